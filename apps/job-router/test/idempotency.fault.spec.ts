import { eventually } from '@berth/testing';
import { expect, test } from '@jest/globals';
import type { JobClient } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();

test('a router that dies in the middle of accepting makes no second job of one with an Idempotency-Key', async () => {
  const doomed = await bench.startRouter();
  const scene = await bench.scene();
  const client = bench.client(scene.endpointId, scene.tenant, doomed);
  const keys = Array.from({ length: 60 }, (_, n) => `key-${n}`);
  const ids = new Map<string, Set<string>>(keys.map((key) => [key, new Set()]));
  const submit = async (through: JobClient, key: string): Promise<void> => {
    const { status, body } = await through.post('/run', { input: { key } }, { headers: { 'idempotency-key': key } });
    if (status === 200) ids.get(key)?.add(body.id as string);
  };
  const first = keys.map((key) => submit(client, key).catch(() => undefined));
  await eventually(() => {
    expect([...ids.values()].filter(({ size }) => size > 0).length).toBeGreaterThan(10);
  });
  doomed.crash();
  const runs = new Map<string, number>();
  scene.agent.serve(async (job) => {
    const { key } = JSON.parse(await scene.agent.inputOf(job)) as { key: string };
    runs.set(key, (runs.get(key) ?? 0) + 1);
    return completed(key);
  });
  await Promise.all(keys.map((key) => submit(scene.client, key)));
  await eventually(() => expect(runs.size).toBe(keys.length), { deadlineMs: 90_000 });

  expect([...ids.values()].map(({ size }) => size)).toEqual(keys.map(() => 1));
  expect([...runs.values()]).toEqual(keys.map(() => 1));
  await doomed.stop();
  await Promise.all(first);
});
