import type { EndpointId, HostId, JobKey } from '@berth/domain';
import type { LeaseKey } from '@berth/jobs';
import { systemClock, systemRandom, type Clock } from '@berth/lifecycle';
import { eventually, freshKey, runningJob, sampleJob, useNatsServer } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import { JetStreamJobRecords } from '../src/job-records/jetstream-job-records.js';
import type { JobEvent } from '../src/job-view/job-event.js';
import { JobViewFeed } from '../src/job-view/job-view-feed.js';
import { JetStreamLeases } from '../src/leases/jetstream-leases.js';
import { LeaseWatch } from '../src/leases/lease-watch.js';
import { STREAMS } from '../src/topology/subjects.js';
import { TopologyKeeper } from '../src/topology/topology-keeper.js';
import { SIZE, ensure, openBroker } from './open-broker.js';

jest.setTimeout(60_000);

const RECOVERY = { deadlineMs: 30_000, intervalMs: 50 };
const LIFE_MS = 3_600_000;
const LEASE = { token: 'token-1', hostId: 'host-1' as HostId };

const nats = useNatsServer();
let broker: Broker;
const stops: (() => Promise<void>)[] = [];

let keeper: TopologyKeeper;

beforeAll(async () => {
  broker = await openBroker(nats, { timeoutMs: 2_000 });
  keeper = new TopologyKeeper({
    broker,
    part: 'jobs',
    size: SIZE,
    clock: systemClock,
    random: systemRandom,
    onError: () => undefined,
  });
  await keeper.start();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(async () => {
  await keeper.stop();
  await broker.connection.close();
});

const leaseKey = (): LeaseKey => ({ ...freshKey(), attempt: 1 });

async function deleteConsumers(stream: string): Promise<number> {
  let count = 0;
  for await (const { name } of broker.manager.consumers.list(stream)) {
    await broker.manager.consumers.delete(stream, name);
    count += 1;
  }
  return count;
}

describe('the lease watch', () => {
  function openWatch(clock: Clock = systemClock): { watch: LeaseWatch; expired: LeaseKey[]; interrupted: string[] } {
    const expired: LeaseKey[] = [];
    const interrupted: string[] = [];
    const watch = new LeaseWatch({
      broker,
      clock,
      onExpired: (key) => expired.push(key),
      onInterrupted: (stream, reason) => interrupted.push(`${stream}: ${reason}`),
    });
    watch.start();
    stops.push(() => watch.stop());
    return { watch, expired, interrupted };
  }

  test('knows the leases that were there before it, and those that come', async () => {
    const leases = new JetStreamLeases(broker);
    const [before, after] = [leaseKey(), leaseKey()];
    await leases.write(before, LEASE, 0);
    const { watch } = openWatch();
    await watch.caughtUp();
    expect(watch.stateOf(before)).toBe('live');
    expect(watch.stateOf(after)).toBe('unseen');
    await leases.write(after, LEASE, 0);
    await eventually(() => expect(watch.stateOf(after)).toBe('live'));
  });

  test('tells when a lease has expired, and that a new one stands in its place', async () => {
    const leases = new JetStreamLeases(broker, 1_000);
    const key = leaseKey();
    const { watch, expired } = openWatch();
    await watch.caughtUp();
    await leases.write(key, LEASE, 0);
    await eventually(() => expect(expired).toContainEqual(key));
    expect(watch.stateOf(key)).toBe('expired');
    const state = await leases.read(key);
    await leases.write(key, LEASE, state.kind === 'expired' ? state.sequence : 0);
    await eventually(() => expect(watch.stateOf(key)).toBe('live'));
  });

  test('forgets a lease that was removed, though nobody says so', async () => {
    let aheadMs = 0;
    const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
    const leases = new JetStreamLeases(broker);
    const key = leaseKey();
    await leases.write(key, LEASE, 0);
    const { watch } = openWatch(clock);
    await watch.caughtUp();
    await leases.remove(key);
    expect(watch.stateOf(key)).toBe('live');
    aheadMs = 45_000;
    await eventually(() => expect(watch.stateOf(key)).toBe('unseen'), RECOVERY);
  });

  test('survives the loss of its consumer', async () => {
    const leases = new JetStreamLeases(broker);
    const { watch, interrupted } = openWatch();
    await watch.caughtUp();
    const key = leaseKey();
    expect(await deleteConsumers(STREAMS.leases(key.endpointId))).toBeGreaterThan(0);
    await eventually(() => expect(interrupted).not.toEqual([]));
    await watch.caughtUp();
    await leases.write(key, LEASE, 0);
    await eventually(() => expect(watch.stateOf(key)).toBe('live'), RECOVERY);
  });

  test('survives a stream that was deleted and made again', async () => {
    const leases = new JetStreamLeases(broker);
    const [lost, fresh] = [leaseKey(), leaseKey()];
    const there = { ...fresh, endpointId: lost.endpointId };
    await leases.write(lost, LEASE, 0);
    const { watch } = openWatch();
    await watch.caughtUp();
    await broker.manager.streams.delete(STREAMS.leases(lost.endpointId));
    await ensure(broker, 'jobs');
    await leases.write(there, LEASE, 0);
    await eventually(() => expect(watch.stateOf(there)).toBe('live'), RECOVERY);
    await eventually(() => expect(watch.stateOf(lost)).toBe('unseen'), RECOVERY);
  });

  test('a restart of the broker empties it, and it says since when it is whole again', async () => {
    const leases = new JetStreamLeases(broker);
    const [lost, fresh] = [leaseKey(), leaseKey()];
    await leases.write(lost, LEASE, 0);
    const { watch, expired } = openWatch();
    await watch.caughtUp();
    const firstReset = watch.lastResetAtMs;
    expect(firstReset).toBeLessThanOrEqual(systemClock.nowMs());
    await nats.restart('kill');
    await eventually(async () => expect(await leases.read(lost)).toEqual({ kind: 'missing' }), RECOVERY);
    await eventually(() => expect(watch.stateOf(lost)).toBe('unseen'), RECOVERY);
    await watch.caughtUp();
    expect(watch.lastResetAtMs).toBeGreaterThan(firstReset);
    expect(expired).not.toContainEqual(lost);
    await leases.write(fresh, LEASE, 0);
    await eventually(() => expect(watch.stateOf(fresh)).toBe('live'), RECOVERY);
  });
});

describe('the job view feed', () => {
  interface Opened {
    readonly feed: JobViewFeed;
    readonly events: JobEvent[];
    /** The newest event of a job, as a view would keep it. */
    readonly latest: (key: JobKey) => JobEvent | undefined;
  }

  function openFeed(from: 'next' | { readonly evSequence: number }): Opened {
    const events: JobEvent[] = [];
    const feed = new JobViewFeed({ broker, clock: systemClock, from, onEvent: (event) => events.push(event) });
    feed.start();
    stops.push(() => feed.stop());
    const latest = (key: JobKey): JobEvent | undefined =>
      events
        .filter(({ jobId, endpointId }) => jobId === key.jobId && endpointId === key.endpointId)
        .sort((a, b) => a.recordSequence - b.recordSequence)
        .at(-1);
    return { feed, events, latest };
  }

  const write = async (key: JobKey, ttlMs = LIFE_MS): Promise<number> => {
    const outcome = await new JetStreamJobRecords(broker).create(sampleJob(key), ttlMs);
    return outcome.kind === 'written' ? outcome.sequence : 0;
  };

  test('begins with the records that exist and goes on with every change', async () => {
    const records = new JetStreamJobRecords(broker);
    const [before, after] = [freshKey(), freshKey()];
    const first = await write(before);
    const { feed, latest } = openFeed('next');
    await feed.whole();
    expect(latest(before)).toEqual({
      ...before,
      recordSequence: first,
      evSequence: null,
      state: 'IN_QUEUE',
      attempt: 1,
      charged: 0,
      isLowPriority: false,
      hasWebhook: false,
      createdAtMs: 1_750_000_000_000,
      queuedAtMs: 1_750_000_000_000,
      notBeforeMs: 1_750_000_000_000,
      expiresAtMs: 1_750_003_600_000,
      startedAtMs: null,
      endedAtMs: null,
      deadlineAtMs: null,
      hostId: null,
      token: null,
    });
    await records.replace(runningJob(before), first, LIFE_MS);
    await write(after);
    await eventually(() => expect(latest(before)?.state).toBe('IN_PROGRESS'));
    expect(latest(before)).toMatchObject({
      startedAtMs: 1_750_000_001_000,
      deadlineAtMs: 1_750_000_601_000,
      hostId: 'host-1',
      token: 'token-1',
      evSequence: expect.any(Number),
    });
    await eventually(() => expect(latest(after)?.state).toBe('IN_QUEUE'));
    expect(feed.evSequence).toBeGreaterThanOrEqual(latest(after)?.evSequence ?? Number.NaN);
  });

  test('tells that a record has expired', async () => {
    const key = freshKey();
    const { feed, latest } = openFeed('next');
    await feed.whole();
    await write(key, 1_000);
    await eventually(() => expect(latest(key)?.state).toBe('removed'));
  });

  test('goes on from the sequence that was kept', async () => {
    const first = openFeed('next');
    await first.feed.whole();
    await first.feed.stop();
    const { evSequence } = first.feed;
    const missed = freshKey();
    const sequence = await write(missed);
    // A version that is written over at once is passed over by the events.
    await eventually(async () => {
      expect((await broker.manager.streams.info(STREAMS.events)).state.last_seq).toBeGreaterThan(evSequence);
    });
    await new JetStreamJobRecords(broker).replace(runningJob(missed), sequence, LIFE_MS);
    const second = openFeed({ evSequence });
    await second.feed.whole();
    await eventually(() => expect(second.latest(missed)?.state).toBe('IN_PROGRESS'));
    const own = second.events.filter(({ jobId, evSequence: place }) => jobId === missed.jobId && place !== null);
    expect(own.map(({ state }) => state)).toEqual(['IN_QUEUE', 'IN_PROGRESS']);
  });

  test('a restart of the broker costs it nothing', async () => {
    const { feed, latest } = openFeed('next');
    await feed.whole();
    const [before, after] = [freshKey(), freshKey()];
    await write(before);
    await nats.restart('kill');
    await eventually(() => expect(feed.isWhole).toBe(false), RECOVERY);
    await eventually(async () => expect(await write(after)).toBeGreaterThan(0), RECOVERY);
    await feed.whole();
    expect(latest(before)?.state).toBe('IN_QUEUE');
    await eventually(() => expect(latest(after)?.state).toBe('IN_QUEUE'), RECOVERY);
    const later = freshKey();
    await write(later);
    await eventually(() => expect(latest(later)?.evSequence).toEqual(expect.any(Number)), RECOVERY);
  });

  test('what EV has lost comes from the records', async () => {
    const { feed, latest } = openFeed('next');
    await feed.whole();
    await broker.manager.streams.delete(STREAMS.events);
    const lost = freshKey();
    await write(lost);
    await ensure(broker, 'jobs');
    await broker.manager.streams.purge(STREAMS.events);
    await eventually(() => expect(latest(lost)?.state).toBe('IN_QUEUE'), RECOVERY);
    await feed.whole();
    const later = freshKey();
    await write(later);
    await eventually(() => expect(latest(later)?.evSequence).toEqual(expect.any(Number)), RECOVERY);
  });
});

describe('a restart of the broker', () => {
  test('keeps records and payloads, and takes the leases', async () => {
    const records = new JetStreamJobRecords(broker);
    const blobs = new JetStreamBlobs(broker);
    const leases = new JetStreamLeases(broker);
    const key = freshKey();
    const bytes = new Uint8Array(20 * 1024 * 1024).map((_, at) => (at * 31 + (at >> 8)) & 0xff);
    const manifest = await blobs.write(key, { name: 'in', bytes }, LIFE_MS);
    const created = await records.create(sampleJob(key, { input: { kind: 'blob', manifest } }), LIFE_MS);
    const sequence = created.kind === 'written' ? created.sequence : 0;
    await leases.write({ ...key, attempt: 1 }, LEASE, 0);
    await nats.restart('kill');
    const stored = await eventually(() => records.read(key), RECOVERY);
    expect(stored).toEqual({ job: sampleJob(key, { input: { kind: 'blob', manifest } }), sequence });
    expect(await leases.read({ ...key, attempt: 1 })).toEqual({ kind: 'missing' });
    // The manifest's hash is checked by the read itself.
    expect((await blobs.read(key, manifest))?.byteLength).toBe(bytes.byteLength);
    expect((await records.replace(runningJob(key), sequence, LIFE_MS)).kind).toBe('written');
  });

  test('an endpoint nobody knows has neither', async () => {
    const key = { ...freshKey(), endpointId: 'ep-of-nobody' as EndpointId };
    expect(await new JetStreamJobRecords(broker).read(key)).toBeNull();
  });
});
