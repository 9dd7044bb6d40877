import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { Answer } from './bench/job-client.js';
import { expectAllFound, expectOutage, readinessOf, untilReady } from './bench/outage-report.js';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench();

const REASONS = /^Nobody who keeps the jobs of this endpoint has answered in time/;

describe('a broker that goes away under load', () => {
  const SUBMITTERS = 8;

  test.each(['kill', 'stop'] as const)(
    '(%s): each submit is kept or refused with a time to wait; it goes on by itself',
    async (how) => {
      const { client } = await bench.scene();
      const accepted: string[] = [];
      const refused: Answer[] = [];
      let isOver = false;
      const submit = async (): Promise<void> => {
        while (!isOver) {
          const answer = await client.post('/run', { input: {} });
          if (answer.status === 200) accepted.push(answer.body.id as string);
          else refused.push(answer);
        }
      };
      const submitting = Promise.all(Array.from({ length: SUBMITTERS }, submit));
      await eventually(() => {
        expect(accepted.length).toBeGreaterThan(100);
      });
      await bench.nats.restart(how);
      const before = accepted.length;
      await eventually(
        () => {
          expect(accepted.length).toBeGreaterThan(before + 100);
        },
        { deadlineMs: 90_000 },
      );
      isOver = true;
      await submitting;
      for (const answer of refused) expectOutage(answer, REASONS);
      await expectAllFound(client, accepted);
    },
    120_000,
  );
});

test('a broker that is away is named on the operations port; nothing is said of jobs that may not be true', async () => {
  const { client, endpointId, tenant } = await bench.scene();
  await client.run({});
  await bench.nats.server.kill();
  const report = await readinessOf(bench.router);
  expect(report.status).toBe('not-ready');
  expect(Object.keys(report.dependencies).sort()).toEqual(['directory', 'nats', 'shards', 'topology']);
  expect(report.dependencies['nats']).toEqual({ state: 'down', reason: expect.any(String) });
  expect(report.dependencies['directory']).toEqual({ state: 'up' });
  for (const answer of await Promise.all([client.call('/health'), client.post('/run', { input: {} })])) {
    expectOutage(answer, REASONS);
  }
  // Who may not ask hears so at once: that is known here.
  const stranger = bench.client(endpointId, { ...tenant, key: `${tenant.key}x` });
  expect((await stranger.call('/health')).status).toBe(401);
  await bench.nats.restart();
  await untilReady(bench.router);
  await eventually(async () => {
    expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 1 });
  });
});
