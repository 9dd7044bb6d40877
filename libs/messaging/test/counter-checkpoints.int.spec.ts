import type { EndpointId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { eventually, useNatsServer } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { CounterCheckpoints, type CounterCheckpoint } from '../src/job-view/counter-checkpoints.js';
import { JOB_SHARDS } from '../src/topology/shards.js';
import { CHECKPOINT_PARTS } from '../src/topology/subjects.js';
import { ensure, openBroker } from './open-broker.js';

jest.setTimeout(60_000);

const nats = useNatsServer();
let broker: Broker;

/** Events of one record each; the warm-up of what routers find. */
async function bringEvents(count: number): Promise<number> {
  const { state } = await broker.manager.streams.info('EV');
  for (let n = 0; n < count; n += 1) broker.connection.publish(`job.0.ep.job-${state.last_seq + n}`, '');
  await eventually(async () => {
    expect((await broker.manager.streams.info('EV')).state.last_seq).toBeGreaterThanOrEqual(state.last_seq + count);
  });
  return (await broker.manager.streams.info('EV')).state.last_seq;
}

beforeEach(async () => {
  broker = await openBroker(nats, { timeoutMs: 2_000 });
  await ensure(broker, 'jobs');
  await broker.manager.streams.purge('CHECKPOINT');
});
afterEach(() => broker.connection.close());

const open = (): CounterCheckpoints => new CounterCheckpoints({ broker, random: systemRandom });

const endpointsOf = (count: number, completed = 1): CounterCheckpoint['endpoints'] =>
  new Map(
    Array.from({ length: count }, (_, n) => [
      `endpoint-${n}` as EndpointId,
      { completed: completed + n, failed: n, cancelled: 2, timedOut: 3, retried: 4 },
    ]),
  );

const checkpoint = (evSequence: number, endpoints = endpointsOf(3)): CounterCheckpoint => ({
  evSequence,
  recordSequences: Array.from({ length: JOB_SHARDS }, () => 0),
  endpoints,
});

const partsLeft = async (): Promise<number> => {
  const { state } = await broker.manager.streams.info('CHECKPOINT', { subjects_filter: CHECKPOINT_PARTS });
  return Object.keys(state.subjects ?? {}).length;
};

describe('the checkpoint of the counters', () => {
  test('is read as it was written, at any size, and the one before it goes', async () => {
    expect(await open().read()).toBeNull();
    const last = await bringEvents(2);
    await open().write(checkpoint(last - 1));
    expect(await open().read()).toEqual(checkpoint(last - 1));
    await open().write(checkpoint(last, endpointsOf(10_000)));
    expect(await open().read()).toEqual(checkpoint(last, endpointsOf(10_000)));
    expect(await partsLeft()).toBe(5);
    const empty = await bringEvents(1);
    await open().write(checkpoint(empty, new Map()));
    expect(await open().read()).toEqual(checkpoint(empty, new Map()));
    expect(await partsLeft()).toBe(0);
  });

  test('is not replaced by one that goes less far', async () => {
    const last = await bringEvents(2);
    await open().write(checkpoint(last, endpointsOf(2)));
    await open().write(checkpoint(last - 1, endpointsOf(1)));
    expect((await open().read())?.endpoints.size).toBe(2);
  });

  test('is whole whoever writes at the same time', async () => {
    const last = await bringEvents(8);
    const written = Array.from({ length: 8 }, (_, n) => checkpoint(last - n, endpointsOf(4_000, n)));
    await Promise.all(written.map((each) => open().write(each)));
    expect(written).toContainEqual(await open().read());
  });

  test('is none when a part is lost', async () => {
    await open().write(checkpoint(await bringEvents(1), endpointsOf(4_000)));
    await broker.manager.streams.purge('CHECKPOINT', { filter: CHECKPOINT_PARTS, keep: 1 });
    expect(await open().read()).toBeNull();
  });

  test('begins anew where the numbers are those of streams that are no more', async () => {
    const last = await bringEvents(3);
    await open().write({ ...checkpoint(last), recordSequences: checkpoint(0).recordSequences.map(() => 1_000_000) });
    await broker.manager.streams.delete('EV');
    await ensure(broker, 'jobs');
    await bringEvents(5);
    const read = await open().read();
    expect(read?.evSequence).toBe(0);
    const { state } = await broker.manager.streams.info('JOBS_0');
    expect(read?.recordSequences[0]).toBe(state.last_seq);
    expect(read?.recordSequences[1]).toBe(0);
    // What it says of another `EV` keeps nobody from writing.
    await open().write(checkpoint(1, endpointsOf(1)));
    expect(await open().read()).toMatchObject({ evSequence: 1 });
  });

  test('a router sees whether another has written', async () => {
    const [mine, other] = [open(), open()];
    await mine.write(checkpoint(await bringEvents(1)));
    expect(await mine.hasOtherWritten()).toBe(false);
    await other.write(checkpoint(await bringEvents(1)));
    expect(await mine.hasOtherWritten()).toBe(true);
    expect(await mine.hasOtherWritten()).toBe(false);
  });
});
