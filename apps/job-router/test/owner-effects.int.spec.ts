import { ROUTER_INBOX, noticeSubject, stopSubject, type NoticeMessage, type StopMessage } from '@berth/contracts';
import type { EndpointId, JobId, Leftovers } from '@berth/domain';
import { atEndOfTurn } from '@berth/lifecycle';
import { readNotice } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { NatsWatcherNotices } from '../src/notices/nats-watcher-notices.js';
import { StopOrders } from '../src/owner/effects/stop-orders.js';
import { CommittedEffects } from '../src/owner/effects/committed-effects.js';
import { WatchNotices } from '../src/owner/effects/watch-notices.js';
import { DeskScene, ENDPOINT, HOST } from './model/desk-scene.js';

const nats = useNatsServer();
const OWN = 'own';

let scene: DeskScene;
let connection: NatsConnection;
let other: NatsConnection;
let notices: NoticeMessage[];
let ownNotices: NoticeMessage[];
let stops: StopMessage['jobs'][number][];
let woken: EndpointId[];
let removed: [JobId, Leftovers][];

beforeEach(async () => {
  scene = await new DeskScene().start();
  [notices, ownNotices, stops, woken, removed] = [[], [], [], [], []];
  connection = await nats.connect({ inboxPrefix: ROUTER_INBOX });
  other = await nats.connect();
  other.subscribe(noticeSubject('other'), {
    callback: (_, message) => {
      const reading = readNotice(message.data);
      if (reading.kind === 'value') notices.push(reading.value);
    },
  });
  other.subscribe(stopSubject(HOST), {
    callback: (_, message) => {
      stops.push(...message.json<{ body: StopMessage }>().body.jobs);
    },
  });
  await other.flush();
  const teller = new NatsWatcherNotices({
    ...{ connection, incarnation: OWN, logger: silentLogger },
    tellOwn: (notice) => ownNotices.push(notice),
  });
  const effects = new CommittedEffects({
    stops: new StopOrders(connection),
    notices: new WatchNotices({
      watchers: scene.watchers,
      atEndOfTurn,
      tell: (router, notice) => teller.tell([router], notice),
    }),
    removals: { add: ({ jobId }, leftovers) => removed.push([jobId, leftovers]) },
    quotas: scene.quotas,
    takes: { wake: (endpointId) => woken.push(endpointId) },
    logger: silentLogger,
  });
  scene.onTouched = (endpointId, touched) => effects.tell(endpointId, touched);
});

afterEach(() => Promise.all([connection.close(), other.close()]));

const cancel = (jobId: JobId) =>
  scene.answer('perform', { command: { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId } });

describe('a host', () => {
  test('is told to stop what it runs when that is cancelled, or its life is over', async () => {
    const jobId = await scene.submit();
    const short = await scene.submit({ ttlMs: 20_000 });
    const proofs = await scene.take(2);
    await cancel(jobId);
    await scene.clock.advance(20_000);
    await scene.answer('count', {});
    const stopOf = (of: JobId, reason: string) => {
      const { attempt, token } = proofs.find((proof) => proof.jobId === of) ?? { attempt: 0, token: '' };
      return { endpointId: ENDPOINT, jobId: of, attempt, token, reason };
    };
    await eventually(() => expect(stops).toEqual([stopOf(jobId, 'cancelled'), stopOf(short, 'expired')]));
  });

  test('is told of many jobs in few messages', async () => {
    const jobs = Array.from({ length: 600 }, () => scene.wish({ ttlMs: 20_000 }));
    const command = { kind: 'submit', sentAtMs: scene.clock.nowMs(), jobs, key: null } as const;
    await scene.answer('perform', { command });
    for (let taken = 0; taken < 600;) taken += (await scene.take(64)).length;
    await scene.clock.advance(20_000);
    await scene.answer('count', {});
    await eventually(() => expect(new Set(stops.map(({ jobId }) => jobId)).size).toBe(600));
  });
});

describe('a router that watches a job', () => {
  const watch = (jobId: JobId, router: string, news: 'any' | 'end' = 'any') =>
    scene.answer('find', { jobId, watcher: { router, news } });

  test('is told when something happens to it, and of the end alone where it wants no more', async () => {
    const [any, end] = [await scene.submit(), await scene.submit()];
    await watch(any, 'other');
    await watch(end, 'other', 'end');
    const [first, second] = await scene.take(2);
    if (first === undefined || second === undefined) throw new Error('both wait');
    await eventually(() => expect(notices).toEqual([{ endpointId: ENDPOINT, jobs: [{ jobId: any, now: 'moved' }] }]));
    await scene.finish(first);
    await scene.finish(second);
    await eventually(() =>
      expect(notices.slice(1).flatMap(({ jobs }) => jobs)).toEqual([
        { jobId: any, now: 'ended' },
        { jobId: end, now: 'ended' },
      ]),
    );
  });

  test('is told of what happened at once in one message', async () => {
    const ids = [await scene.submit(), await scene.submit(), await scene.submit()];
    for (const jobId of ids) await watch(jobId, 'other');
    await scene.answer('perform', { command: { kind: 'purge', purgeId: 'p1', sentAtMs: scene.clock.nowMs() } });
    await eventually(() =>
      expect(notices).toEqual([{ endpointId: ENDPOINT, jobs: ids.map((jobId) => ({ jobId, now: 'gone' })) }]),
    );
    expect(scene.watchers.size).toBe(0);
  });

  test('is told by a call where it is this very one', async () => {
    const jobId = await scene.submit();
    await watch(jobId, OWN);
    await cancel(jobId);
    await eventually(() => expect(ownNotices).toEqual([{ endpointId: ENDPOINT, jobs: [{ jobId, now: 'ended' }] }]));
    expect(notices).toEqual([]);
  });
});

test('workers that wait are woken when a job may be taken, and not when one ends', async () => {
  const jobId = await scene.submit();
  expect(woken).toEqual([ENDPOINT]);
  await scene.takeOne();
  woken.length = 0;
  await cancel(jobId);
  expect(woken).toEqual([]);
});

test('what lies beside the log is removed when its job is gone, and nothing where there can be nothing', async () => {
  const [small, large] = [await scene.submit(), await scene.submit({ bodyBytes: 100_000 })];
  await scene.answer('perform', { command: { kind: 'purge', purgeId: 'p1', sentAtMs: scene.clock.nowMs() } });
  expect(removed).toEqual([[large, { of: 'job' }]]);
  expect(await scene.find(small)).toBeNull();
});

test('what a job has streamed counts as long as it lies there: until its result goes', async () => {
  const jobId = await scene.submit({ retentionMs: 60_000 });
  const proof = await scene.takeOne();
  await scene.answer('hold', { proof, chunk: { index: 0, bytes: 1_000 } });
  await scene.finish(proof);
  expect(scene.quotas.size).toBe(1);
  await scene.clock.advance(61_000);
  expect(await scene.find(jobId)).toBeNull();
  expect(scene.quotas.size).toBe(0);
});

test('a connection that is closed keeps nothing from being committed', async () => {
  const jobId = await scene.submit();
  await scene.take();
  await scene.answer('find', { jobId, watcher: { router: 'other', news: 'any' } });
  await connection.close();
  expect(await cancel(jobId)).toMatchObject({ kind: 'job', state: 'CANCELLED' });
  expect(await scene.find(jobId)).toMatchObject({ state: 'CANCELLED' });
});
