import { systemClock, systemRandom } from '@berth/lifecycle';
import { StartupError } from '@berth/telemetry';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { TopologyKeeper } from '../src/topology/topology-keeper.js';
import { SIZE, openBroker } from './open-broker.js';

const nats = useNatsServer();
let broker: Broker;

beforeEach(async () => {
  broker = await openBroker(nats);
});
afterEach(async () => {
  for await (const name of broker.manager.streams.names()) await broker.manager.streams.delete(name);
  await broker.connection.close();
});

/** As a router starts. */
async function start(made: string[] = []): Promise<void> {
  const keeper = new TopologyKeeper({
    broker,
    part: 'jobs',
    size: SIZE,
    clock: systemClock,
    random: systemRandom,
    onChange: ({ created }) => made.push(...created),
    onError: () => undefined,
  });
  await keeper.start();
  await keeper.stop();
}

/** As an older version kept jobs. */
async function keepRecords(count: number): Promise<void> {
  await broker.manager.streams.add({ name: 'JOBS_3', subjects: ['job.3.>'], max_bytes: SIZE.storageBytes / 2 });
  for (let at = 0; at < count; at += 1)
    await broker.connection.request(`job.3.ep.job-${at}`, 'a record', { timeout: 60_000 });
}

describe('a router', () => {
  test('makes the streams of jobs and no other', async () => {
    const made: string[] = [];
    await start(made);
    const present: string[] = [];
    for await (const name of broker.manager.streams.names()) present.push(name);
    expect(present.sort()).toEqual(made.sort());
    expect(new Set(present.map((name) => name.split('_')[0]))).toEqual(new Set(['LOG', 'KV', 'BLOB', 'OUT', 'CURSOR']));
  });

  test('refuses to start beside jobs of an older version, says where they lie and what to do, and makes nothing', async () => {
    await keepRecords(2);
    const made: string[] = [];
    const refusal: unknown = await start(made).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartupError);
    expect(String(refusal)).toContain('messages in JOBS_3 with 2.');
    expect(String(refusal)).toContain('there is no migration');
    expect(String(refusal)).toContain('delete the streams JOBS_*');
    expect(made).toEqual([]);
  });

  test('starts beside streams of an older version that are empty', async () => {
    await keepRecords(0);
    const made: string[] = [];
    await start(made);
    expect(made).toContain('LOG_0');
    expect(await broker.manager.streams.info('JOBS_3')).toMatchObject({ state: { messages: 0 } });
  });

  test('says so where the broker has no room for both', async () => {
    await keepRecords(0);
    await nats.restart('stop', { fileStoreMaxBytes: SIZE.storageBytes });
    const refusal: unknown = await start().catch((error: unknown) => error);
    await nats.restart('stop', {});
    expect(refusal).toBeInstanceOf(StartupError);
    expect(String(refusal)).toContain('no room for stream');
    expect(String(refusal)).toContain('delete those that nobody uses any more');
  });
});
