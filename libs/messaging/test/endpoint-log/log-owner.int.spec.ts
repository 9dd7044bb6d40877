import { NOTHING_UNREAD, type EndpointId, type PurgeableDecision } from '@berth/domain';
import type { LogBroker } from '@berth/endpoint-log';
import { systemClock } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { logShard } from '../../src/topology/shards.js';
import { logSubject } from '../../src/topology/subjects.js';
import { ensure, openBroker } from '../open-broker.js';
import { OwnerScene, endpointCalled } from './owner-scene.js';

const nats = useNatsServer();
let broker: Broker;
let logs: LogBroker;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
  logs = new NatsLogBroker({ broker, clock: systemClock });
});
afterAll(() => broker.connection.close());

const UNREAD: PurgeableDecision = { through: 0, readThrough: 0, reason: 'read' };

const sceneOf = (clock: ManualClock, routerId = 'r1'): OwnerScene => new OwnerScene(logs, { clock, routerId });

async function entriesOf(endpointId: EndpointId): Promise<readonly number[]> {
  const sequences: number[] = [];
  for await (const { sequence } of logs.read(endpointId, 0)) sequences.push(sequence);
  return sequences;
}

test('a job runs from submit to end, and another owner reads it as it was', async () => {
  const clock = new ManualClock();
  const [first, second] = [sceneOf(clock), sceneOf(clock, 'r2')];
  const endpointId = endpointCalled('run');
  await first.take(endpointId);
  const jobId = await first.submit(endpointId);
  const proof = await first.takeJob(endpointId);
  expect(proof.jobId).toBe(jobId);
  expect(await first.finish(endpointId, proof)).toEqual({ kind: 'settled', answer: { kind: 'recorded' } });
  expect(first.touched.map(({ now }) => now)).toEqual(['moved', 'moved', 'ended']);
  await second.take(endpointId);
  expect(await second.status(endpointId, jobId)).toMatchObject({ kind: 'settled', answer: { state: 'COMPLETED' } });
});

test('an owner that was replaced tells nobody anything, and reads on when it is asked again', async () => {
  const clock = new ManualClock();
  const [old, next] = [sceneOf(clock), sceneOf(clock, 'r2')];
  const endpointId = endpointCalled('replaced');
  await old.take(endpointId);
  const jobId = await old.submit(endpointId);
  await next.take(endpointId);
  const proof = await next.takeJob(endpointId);
  // The old one believes still that the job waits.
  expect(await old.perform(endpointId, { kind: 'cancel', sentAtMs: clock.nowMs(), jobId })).toEqual({
    kind: 'unsettled',
  });
  await eventually(() => expect(old.kindsOf(endpointId)).toEqual(['opened', 'closed']));
  expect(await old.status(endpointId, jobId)).toMatchObject({ kind: 'settled', answer: { state: 'IN_PROGRESS' } });
  expect(await old.finish(endpointId, proof)).toMatchObject({ kind: 'settled', answer: { kind: 'recorded' } });
});

test('without trust nothing is decided, read or refused', async () => {
  const clock = new ManualClock();
  const scene = sceneOf(clock);
  const endpointId = endpointCalled('trust');
  await scene.take(endpointId);
  const jobId = await scene.submit(endpointId);
  scene.isTrusted = false;
  expect(await scene.status(endpointId, jobId)).toEqual({ kind: 'refused', reason: 'unsettled' });
  expect(await scene.perform(endpointId, scene.submission(jobId))).toEqual({ kind: 'refused', reason: 'unsettled' });
  scene.isTrusted = true;
  expect(await scene.status(endpointId, jobId)).toMatchObject({ answer: { state: 'IN_QUEUE' } });
});

test('a log that says what cannot be stops its own endpoint, and no other of the shard', async () => {
  const clock = new ManualClock();
  const scene = sceneOf(clock);
  const endpointId = endpointCalled('broken');
  await broker.request(logSubject(endpointId), '{"kind":"finished"}');
  let neighbour = endpointCalled('sound');
  while (logShard(neighbour) !== logShard(endpointId)) neighbour = endpointCalled('sound');
  await scene.take(endpointId);
  const jobId = await scene.submit(neighbour);
  expect(await scene.status(endpointId, jobId)).toEqual({ kind: 'refused', reason: 'stopped' });
  expect(scene.events).toContainEqual({ kind: 'stopped', endpointId, reason: expect.stringContaining('batch') });
  expect(await scene.status(neighbour, jobId)).toMatchObject({ answer: { state: 'IN_QUEUE' } });
});

test('an endpoint that nobody has open is opened for what is due by its index', async () => {
  const clock = new ManualClock();
  const [first, second] = [sceneOf(clock), sceneOf(clock, 'r2')];
  const endpointId = endpointCalled('due');
  await first.take(endpointId);
  await first.submit(endpointId, 5_000);
  await second.take(endpointId);
  second.owner.tick();
  expect(second.kindsOf(endpointId)).toEqual([]);
  await clock.advance(6_000);
  second.owner.tick();
  await eventually(() => expect(second.touched.map(({ now }) => now)).toEqual(['gone']));
});

test('what runs is opened at once by whoever takes the shard, and its lease begins anew', async () => {
  const clock = new ManualClock();
  const [first, second] = [sceneOf(clock), sceneOf(clock, 'r2')];
  const endpointId = endpointCalled('lease');
  await first.take(endpointId);
  const jobId = await first.submit(endpointId);
  await first.takeJob(endpointId);
  await clock.advance(29_000);
  await second.take(endpointId);
  await eventually(() => expect(second.kindsOf(endpointId)).toEqual(['opened']));
  await clock.advance(29_000);
  second.owner.tick();
  expect(await second.status(endpointId, jobId)).toMatchObject({ answer: { state: 'IN_PROGRESS' } });
});

test('a log of what is gone is short within the hour, as far as the job history has read it', async () => {
  const clock = new ManualClock();
  const scene = sceneOf(clock);
  const endpointId = endpointCalled('carry');
  scene.purgeable = UNREAD;
  await scene.take(endpointId);
  const living = await scene.submit(endpointId, 6 * 86_400_000, 'x'.repeat(2_000));
  for (let job = 0; job < 20; job += 1) await scene.submit(endpointId, 60_000, 'x'.repeat(1_000));
  const before = await entriesOf(endpointId);
  await clock.advance(3_700_000);
  scene.owner.tick();
  await scene.owner.tend();
  expect((await entriesOf(endpointId)).slice(0, before.length)).toEqual(before);
  scene.purgeable = NOTHING_UNREAD;
  await scene.owner.tend();
  expect((await entriesOf(endpointId)).length).toBeLessThan(5);
  const next = sceneOf(clock, 'r2');
  await next.take(endpointId);
  expect(await next.status(endpointId, living)).toMatchObject({ answer: { state: 'IN_QUEUE' } });
});

test.each(['aged', 'full'] as const)(
  'what is carried goes unread where it is %s, and is told to be missing',
  async (reason) => {
    const clock = new ManualClock();
    const scene = sceneOf(clock);
    const endpointId = endpointCalled('escape');
    scene.purgeable = UNREAD;
    await scene.take(endpointId);
    for (let job = 0; job < 20; job += 1) await scene.submit(endpointId, 60_000, 'x'.repeat(1_000));
    await clock.advance(3_700_000);
    scene.owner.tick();
    await scene.owner.tend();
    const before = await entriesOf(endpointId);
    expect(before.length).toBeGreaterThan(20);
    scene.purgeable = { through: before[9] ?? 0, readThrough: before[4] ?? 0, reason };
    await scene.owner.tend();
    expect(await entriesOf(endpointId)).toEqual(before.slice(10));
    expect(scene.events.filter(({ kind }) => kind === 'purged-unread')).toEqual([
      { kind: 'purged-unread', endpointId, reason },
    ]);
    scene.purgeable = { ...scene.purgeable, readThrough: before[9] ?? 0 };
    await scene.owner.tend();
    expect(scene.events.filter(({ kind }) => kind === 'purged-unread')).toHaveLength(1);
  },
);

test('an endpoint that nobody uses is closed, and opened again when it is asked for', async () => {
  const clock = new ManualClock();
  const scene = sceneOf(clock);
  const endpointId = endpointCalled('idle');
  await scene.take(endpointId);
  const jobId = await scene.submit(endpointId);
  await clock.advance(599_000);
  await scene.owner.tend();
  expect(scene.kindsOf(endpointId)).toEqual(['opened']);
  await clock.advance(1_000);
  await scene.owner.tend();
  expect(scene.kindsOf(endpointId)).toEqual(['opened', 'closed']);
  expect(await scene.status(endpointId, jobId)).toMatchObject({ answer: { state: 'IN_QUEUE' } });
});

test('a shard that is given up finishes what is under way, and is asked in vain', async () => {
  const clock = new ManualClock();
  const scene = sceneOf(clock);
  const endpointId = endpointCalled('drop');
  await scene.take(endpointId);
  const jobId = await scene.submit(endpointId);
  const late = scene.submit(endpointId);
  const drained = scene.owner.drain(logShard(endpointId), new AbortController().signal);
  expect(await scene.status(endpointId, jobId)).toEqual({ kind: 'refused', reason: 'unsettled' });
  let isDrained = false;
  void drained.then(() => (isDrained = true));
  await eventually(async () => {
    await clock.advance(5);
    expect(isDrained).toBe(true);
  });
  expect(await late).toEqual(expect.any(String));
  expect(await scene.status(endpointId, jobId)).toEqual({ kind: 'refused', reason: 'unsettled' });
});

test('no more than a bounded number of questions waits for one endpoint', async () => {
  const clock = new ManualClock();
  const scene = sceneOf(clock);
  const endpointId = endpointCalled('busy');
  await scene.take(endpointId);
  const jobId = await scene.submit(endpointId);
  const asked = Array.from({ length: 5_000 }, () =>
    scene.perform(endpointId, { kind: 'replace-life', sentAtMs: clock.nowMs(), jobId, leftMs: 60_000 }),
  );
  const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'settled')).toHaveLength(4_096);
  expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(904);
});

test('a delivery that is due is told of until its try begins, and again once the claim of a lost sender is over', async () => {
  const clock = new ManualClock();
  const scene = sceneOf(clock);
  const endpointId = endpointCalled('deliveries');
  await scene.take(endpointId);
  await scene.submitTold(endpointId, 'https://hooks.example/end');
  const proof = await scene.takeJob(endpointId);
  const toldAfter = async (ms: number): Promise<number> => {
    const before = scene.deliveriesDue.length;
    await clock.advance(ms);
    scene.owner.tick();
    return scene.deliveriesDue.length - before;
  };
  expect(await toldAfter(1_000)).toBe(0);
  await scene.finish(endpointId, proof);
  expect([await toldAfter(0), await toldAfter(100), await toldAfter(400)]).toEqual([1, 0, 1]);
  const begin = { kind: 'begin-try', jobId: proof.jobId, attempt: 1, token: 'first' } as const;
  expect(await scene.perform(endpointId, begin)).toMatchObject({ kind: 'settled', answer: { kind: 'begun' } });
  expect([await toldAfter(1_000), await toldAfter(20_000), await toldAfter(4_000)]).toEqual([0, 0, 1]);
  const other = { ...begin, token: 'second' };
  expect(await scene.perform(endpointId, other)).toMatchObject({ kind: 'settled', answer: { kind: 'begun' } });
  const late = { ...begin, kind: 'end-try', isSuccess: true, statusCode: 200, error: null } as const;
  expect(await scene.perform(endpointId, late)).toMatchObject({ answer: { kind: 'superseded' } });
  expect(await scene.perform(endpointId, { ...late, token: 'second' })).toMatchObject({ answer: { kind: 'recorded' } });
  expect(await toldAfter(60_000)).toBe(0);
});
