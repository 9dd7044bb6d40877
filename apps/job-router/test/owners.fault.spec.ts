import { stopSubject, type StopMessage } from '@berth/contracts';
import { encodeJson, type EndpointId, type HostId, type JobId, type TakeWish, type WorkerId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { JetStreamBlobs, JetStreamChunks, LOG_SHARDS, NatsLogBroker, logShard } from '@berth/messaging';
import { MetricRegistry } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { questionMetrics } from '../src/owners/metrics.js';
import { NatsOwners } from '../src/owners/nats-owners.js';
import { TcpProxy } from './bench/tcp-proxy.js';
import { large } from './model/desk-scene.js';
import { RunningOwners, type TestOwner } from './model/running-owners.js';

let owners: RunningOwners;
// Before the broker's own, since these run in order, and an owner without its broker takes long to stop.
afterAll(() => owners.close());
const nats = useNatsServer();

const HOST = 'h1' as HostId;
const LONG = { deadlineMs: 90_000 };

beforeAll(async () => {
  owners = new RunningOwners(nats);
  // 4 MiB for each shard's logs.
  await owners.start({ replicas: 1, storageBytes: 160 * 1024 ** 2, memoryBytes: 64 * 1024 ** 2 });
});

const alone = async (routerId = 'r1'): Promise<TestOwner> => {
  const owner = await owners.add(routerId);
  await eventually(() => expect(owner.shards()).toHaveLength(LOG_SHARDS), LONG);
  return owner;
};

/** Both have their half of the shards. */
const shared = (...pair: readonly TestOwner[]): Promise<void> =>
  eventually(() => expect(pair.map((owner) => owner.shards().length)).toEqual([8, 8]), LONG);

function endpointOf(owner: TestOwner): EndpointId {
  for (;;) {
    const endpointId = owners.newEndpoint();
    if (owner.shards().includes(logShard(endpointId))) return endpointId;
  }
}

const takeWish = (): TakeWish => {
  const takeId = systemRandom.id(20);
  return { takeId, hostId: HOST, workerId: 'w1' as WorkerId, slots: 1, secret: takeId };
};

describe('two routers', () => {
  let first: TestOwner;
  let second: TestOwner;
  beforeAll(async () => {
    [first, second] = [await alone('r1'), await owners.add('r2')];
    await shared(first, second);
  });
  afterAll(() => owners.stopAll());

  test('give a job to a worker that waits at the other, and take it to its end', async () => {
    const endpointId = endpointOf(first);
    const taken = owners.ask(second, endpointId, ['take', { wish: takeWish(), waitMs: 20_000 }]);
    const jobId = await owners.submit(second, endpointId, large());
    const [job] = await taken;
    expect(job).toMatchObject({ jobId, attempt: 1, body: { input: large() } });
    const { attempt = 0, token = '' } = job ?? {};
    const proof = { jobId, attempt, token, hostId: HOST };
    expect(await owners.ask(second, endpointId, ['renew', { proofs: [proof] }])).toEqual(['renewed']);
    const shown = { output: large('y'), outputBytes: 1_002, chunks: 0, logTail: [] };
    const command = { kind: 'finish', ...proof, state: 'COMPLETED', error: null, ...shown } as const;
    expect(await owners.ask(second, endpointId, ['perform', { command }])).toEqual({ kind: 'recorded' });
    expect(await owners.ask(second, endpointId, ['find', { jobId, watcher: null }])).toMatchObject({
      state: 'COMPLETED',
      output: large('y'),
    });
  });

  test('give a worker the very jobs again of which the answer was lost between them, without waiting for a lease', async () => {
    const endpointId = endpointOf(first);
    const jobId = await owners.submit(second, endpointId);
    const metrics = questionMetrics(new MetricRegistry());
    const asking = new NatsOwners({
      local: (...asked) => second.running.desk.answer(...asked),
      ...{ requests: second.requests, clock: systemClock, random: systemRandom, metrics },
    });
    second.loseAnswer();
    const wish = takeWish();
    const [job, ...others] = await asking.ask(endpointId, 'take', { wish, waitMs: 100 }, { heldMs: 100 });
    expect((await metrics.tries.get()).values).toMatchObject([{ labels: { verb: 'take', cause: 'silent' }, value: 1 }]);
    expect([job?.jobId, job?.attempt, others]).toEqual([jobId, 1, []]);
    // Another one by the same wish brings the same, and no other worker was given the job.
    expect(await asking.ask(endpointId, 'take', { wish, waitMs: 0 })).toMatchObject([
      { jobId, attempt: 1, token: job?.token },
    ]);
    expect(await asking.ask(endpointId, 'take', { wish: takeWish(), waitMs: 0 })).toEqual([]);
    const proof = { jobId, attempt: 1, token: job?.token ?? '', hostId: HOST };
    expect(await asking.ask(endpointId, 'renew', { proofs: [proof] })).toEqual(['renewed']);
  });

  test('tell each other of jobs that are watched there', async () => {
    for (const endpointId of [endpointOf(first), endpointOf(second)]) {
      const jobId = await owners.submit(first, endpointId);
      const watcher = { router: second.running.incarnation, news: 'end' } as const;
      await owners.ask(second, endpointId, ['find', { jobId, watcher }]);
      const command = { kind: 'cancel', sentAtMs: systemClock.nowMs(), jobId } as const;
      await owners.ask(first, endpointId, ['perform', { command }]);
      const notice = { endpointId, jobs: [{ jobId, now: 'ended' }] };
      await eventually(() => expect(second.notices).toContainEqual(notice));
    }
    expect(first.notices).toEqual([]);
  });

  test('answer for all endpoints together, whichever is asked, and one for the rest when the other hands over', async () => {
    const jobs = await Promise.all(
      Array.from({ length: 16 }, async (_, at) => {
        const endpointId = owners.newEndpoint();
        return { endpointId, jobId: await owners.submit(at % 2 === 0 ? first : second, endpointId) };
      }),
    );
    const expectAll = async (asked: TestOwner): Promise<void> => {
      for (const { endpointId, jobId } of jobs) {
        const sight = await owners.ask(asked, endpointId, ['find', { jobId, watcher: null }]);
        expect(sight).toMatchObject({ jobId, state: 'IN_QUEUE' });
      }
    };
    await expectAll(first);
    await expectAll(second);
    await first.stop();
    await expectAll(second);
    await eventually(() => expect(second.running.unownedShards()).toEqual([]), LONG);
  });

  test('lose nothing when one of them dies: its shards have another owner, and what was accepted is there', async () => {
    const third = await owners.add('r3');
    await shared(second, third);
    const endpointIds = [endpointOf(second), endpointOf(second), endpointOf(second)];
    const jobs: { readonly endpointId: EndpointId; readonly jobId: JobId }[] = [];
    for (const endpointId of endpointIds) jobs.push({ endpointId, jobId: await owners.submit(third, endpointId) });
    await second.crash();
    await eventually(() => expect(third.shards()).toHaveLength(LOG_SHARDS), LONG);
    for (const { endpointId, jobId } of jobs) {
      expect(await owners.ask(third, endpointId, ['find', { jobId, watcher: null }])).toMatchObject({ jobId });
    }
    await eventually(() => expect(third.running.unownedShards()).toEqual([]), LONG);
  });
});

describe('an owner whose line to the broker is cut', () => {
  test('says nothing until it is sure again, and goes on with what it had', async () => {
    const proxy = await TcpProxy.open(nats.server.url);
    const cut = await owners.add('cut', proxy.url);
    await eventually(() => expect(cut.shards()).toHaveLength(LOG_SHARDS), LONG);
    const endpointId = owners.newEndpoint();
    const jobId = await owners.submit(cut, endpointId);
    proxy.cut();
    await eventually(async () => expect(await cut.running.desk.answer(endpointId, 'count', {})).toBe('silent'), LONG);
    const next = await owners.add('next');
    await eventually(() => expect(next.shards()).toContain(logShard(endpointId)), LONG);
    expect(await owners.ask(next, endpointId, ['find', { jobId, watcher: null }])).toMatchObject({ state: 'IN_QUEUE' });
    await cut.crash();
    await next.stop();
  });
});

describe('an endpoint that is deleted', () => {
  test('stops its hosts, and nothing of it is left but that it was deleted', async () => {
    const owner = await alone();
    const broker = await owners.broker();
    const stopped: string[] = [];
    broker.connection.subscribe(stopSubject(HOST), {
      callback: (_, message) => {
        stopped.push(...message.json<{ body: StopMessage }>().body.jobs.map(({ jobId }) => jobId));
      },
    });
    await broker.connection.flush();
    const endpointId = owners.newEndpoint();
    const running = await owners.submit(owner, endpointId);
    await owners.ask(owner, endpointId, ['take', { wish: takeWish(), waitMs: 1_000 }]);
    const waiting = await owners.submit(owner, endpointId);
    const [blobs, chunks] = [new JetStreamBlobs(broker), new JetStreamChunks(broker)];
    const key = { endpointId, jobId: running };
    await blobs.write(key, { name: 'in', bytes: Buffer.alloc(10) }, 3_600_000);
    await chunks.append(key, { attempt: 1, index: 0, body: '1' as never }, 3_600_000);
    owners.delete(endpointId);
    await eventually(async () => expect(await owners.logOf(endpointId)).toBe(1), LONG);
    await eventually(() => expect(stopped).toEqual([running]));
    expect(await blobs.readPart(key, 'in', 0)).toBeNull();
    expect(await chunks.read({ ...key, attempt: 1, fromIndex: 0, limit: 1 })).toEqual([]);
    expect(await owners.ask(owner, endpointId, ['find', { jobId: waiting, watcher: null }])).toBeNull();
  });
});

describe('a former owner whose append is late', () => {
  beforeAll(() => owners.stopAll());
  afterAll(() => owners.stopAll());

  test('is found out within seconds, where its endpoint is asked for by nobody', async () => {
    const owner = await alone();
    const late = new NatsLogBroker({ broker: await owners.broker(), clock: systemClock });
    const first = owners.newEndpoint();
    let second = owners.newEndpoint();
    while (logShard(second) !== logShard(first)) second = owners.newEndpoint();
    // The first may be found by the look behind the taking of a shard, the second not.
    for (const endpointId of [first, second]) {
      const demanded = (): boolean =>
        owner.running.routerLogs.takeAll(logShard(endpointId))?.demands.has(endpointId) ?? false;
      expect(demanded()).toBe(false);
      const nowMs = systemClock.nowMs();
      const index = { dueAtMs: nowMs + 3_600_000, waitingNormal: 1, waitingLow: 0, oldestQueuedAtMs: nowMs };
      const outcome = await late.append({
        ...{ endpointId, after: 0, batchId: systemRandom.uuid(), facts: Buffer.from('{}') },
        index: { ...index, running: 0, runningLow: 0, living: 1 },
      });
      expect(outcome.kind).toBe('stored');
      await eventually(() => expect(demanded()).toBe(true), { deadlineMs: 90_000 });
    }
  });
});

describe('a job history that is behind', () => {
  beforeAll(() => owners.stopAll());
  afterAll(() => {
    owners.readThrough = Number.MAX_SAFE_INTEGER;
    return owners.stopAll();
  });

  test('is waited for, but not where its room is needed: then somebody hears of what it misses', async () => {
    owners.readThrough = 0;
    const owner = await alone();
    const deleted = owners.newEndpoint();
    await owners.submit(owner, deleted);
    let other = owners.newEndpoint();
    while (logShard(other) !== logShard(deleted)) other = owners.newEndpoint();
    owners.delete(deleted);
    const unreadPurges = async (): Promise<readonly string[]> =>
      (await owner.metrics.text())
        .split('\n')
        .filter((line) => line.startsWith('berth_router_log_unread_purges_total{'));
    await eventually(async () => expect(await owners.logOf(deleted)).toBe(3), LONG);
    expect([owner.running.unreadShards(), await unreadPurges()]).toEqual([[], []]);
    const input = { kind: 'inline', json: encodeJson('x'.repeat(200_000)) } as const;
    for (let job = 0; job < 15; job += 1) await owners.submit(owner, other, input);
    await eventually(() => expect(owner.running.unreadShards()).toEqual([logShard(deleted)]), LONG);
    await eventually(async () => expect(await owners.logOf(deleted)).toBe(1), LONG);
    expect(await unreadPurges()).toEqual(['berth_router_log_unread_purges_total{reason="full"} 1']);
  });
});
