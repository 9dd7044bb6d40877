import { WATCH_KEPT_MS } from '@berth/contracts';
import {
  ENDPOINT_BOUNDS_DEFAULT,
  JOB_STATES,
  encodeJson,
  itemJobId,
  type EndpointId,
  type JobId,
  type JobWish,
  type LimitOverrides,
} from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DeskScene, ENDPOINT, HOST, endpointSnapshot, large } from '../../test/model/desk-scene.js';

let scene: DeskScene;
beforeEach(async () => {
  scene = await new DeskScene().start();
});

const NOBODY = 'nobody' as JobId;
const ALL = { before: null, limit: 10, statuses: JOB_STATES, alsoIds: [] };

describe('a job from submit to end', () => {
  test('is seen, counted, listed and described as it is', async () => {
    const jobId = await scene.submit();
    expect(await scene.find(jobId)).toMatchObject({ jobId, state: 'IN_QUEUE', queue: { position: 1 } });
    const proof = await scene.takeOne();
    expect(await scene.answer('count', {})).toMatchObject({ inProgress: 1, inQueue: 0 });
    expect(await scene.finish(proof, { kind: 'inline', json: encodeJson('done') })).toEqual({ kind: 'recorded' });
    expect(await scene.find(jobId)).toMatchObject({ state: 'COMPLETED', output: { json: '"done"' }, queue: null });
    expect(await scene.answer('list', ALL)).toMatchObject({ entries: [{ jobId, status: 'COMPLETED' }], through: null });
    expect(await scene.answer('describe', { jobId })).toMatchObject({ detail: { attemptList: [{ attempt: 1 }] } });
    expect(await scene.answer('deliveries', { jobId })).toEqual([]);
  });

  test('is none where nobody knows it', async () => {
    expect(await scene.find(NOBODY)).toBeNull();
    expect(await scene.answer('describe', { jobId: NOBODY })).toBeNull();
    expect(await scene.answer('deliveries', { jobId: NOBODY })).toBeNull();
    expect(
      await scene.answer('perform', { command: { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId: NOBODY } }),
    ).toMatchObject({ kind: 'refused', reason: 'no-job' });
  });
});

describe('a command', () => {
  test('is bounded as the limits of its account say', async () => {
    scene.snapshots.set(ENDPOINT, endpointSnapshot({ limits: { jobsPerEndpoint: 1 } }));
    await scene.submit();
    const command = { kind: 'submit', sentAtMs: scene.clock.nowMs(), jobs: [scene.wish()], key: null } as const;
    expect(await scene.answer('perform', { command })).toMatchObject({ kind: 'refused', reason: 'too-many-jobs' });
    scene.snapshots.set(ENDPOINT, endpointSnapshot());
    expect(ENDPOINT_BOUNDS_DEFAULT.livingJobs).toBeGreaterThan(1);
    expect(await scene.answer('perform', { command })).toMatchObject({ kind: 'accepted' });
  });

  test('that brings jobs gives them to the workers that wait', async () => {
    scene.wishes.push(scene.takeWish());
    const jobId = await scene.submit();
    expect(await scene.find(jobId)).toMatchObject({ state: 'IN_PROGRESS' });
  });

  test('that is too old to be told from its repetition is answered with silence', async () => {
    const command = { kind: 'purge', purgeId: 'p1', sentAtMs: scene.clock.nowMs() } as const;
    await scene.clock.advance(10_001);
    expect(await scene.ask('perform', { command })).toBe('silent');
  });

  test('of an edge whose clock is ahead grows old like any other', async () => {
    const { clock } = scene;
    const performed: unknown[] = [];
    const { logs } = scene;
    const perform = logs.perform.bind(logs);
    logs.perform = (endpointId, command) => {
      performed.push(command);
      return perform(endpointId, command);
    };
    const command = { kind: 'purge', purgeId: 'p1', sentAtMs: clock.nowMs() + 3_600_000 } as const;
    expect(await scene.answer('perform', { command })).toEqual({ kind: 'purged', removed: 0 });
    expect(performed).toEqual([{ ...command, sentAtMs: clock.nowMs() }]);
  });
});

describe('silence', () => {
  test('is kept while it is not certain who owns the endpoint', async () => {
    scene.isTrusted = false;
    for (const verb of ['count', 'list', 'renew'] as const) {
      const question = { list: ALL, count: {}, renew: { proofs: [] } }[verb];
      expect(await scene.ask(verb, question as never)).toBe('silent');
    }
  });

  test('is kept of an endpoint that this router has not heard of', async () => {
    expect(await scene.desk.answer('e2' as EndpointId, 'count', {})).toBe('silent');
    expect(scene.model.history('e2' as EndpointId)).toEqual([]);
  });

  test('is not kept of a log that somebody has to look at first', async () => {
    scene.model.putGarbage(ENDPOINT);
    expect(await scene.ask('count', {})).toEqual({ kind: 'refused', reason: 'stopped' });
  });
});

describe('a log with little room left', () => {
  test('takes no new jobs, and tells of those that it has', async () => {
    const jobId = await scene.submit();
    scene.fill = 0.75;
    const command = { kind: 'retry', jobId, retryId: 'r1', sentAtMs: scene.clock.nowMs() } as const;
    await expect(scene.submit()).rejects.toThrow();
    expect(await scene.ask('find', { jobId, watcher: null })).toMatchObject({ kind: 'answer' });
    expect(await scene.ask('perform', { command })).toMatchObject({ kind: 'answer' });
    scene.fill = 0.9;
    expect(await scene.ask('perform', { command })).toEqual({ kind: 'refused', reason: 'full' });
  });
});

describe('an endpoint that was deleted', () => {
  const deleted = endpointSnapshot({ isDeleted: true, deletedAtMs: 1 });
  const proof = { jobId: NOBODY, attempt: 1, token: 't', hostId: HOST };

  test('is not there for callers, and its holders let go, though its log is not opened', async () => {
    scene.snapshots.set(ENDPOINT, deleted);
    const submit = { kind: 'submit', sentAtMs: scene.clock.nowMs(), jobs: [scene.wish()], key: null } as const;
    expect(await scene.answer('perform', { command: submit })).toMatchObject({ reason: 'endpoint-deleted' });
    expect(await scene.answer('perform', { command: { kind: 'let-go', ...proof, agoMs: 0, logTail: [] } })).toEqual({
      kind: 'superseded',
    });
    expect(await scene.find(NOBODY)).toBeNull();
    expect(await scene.answer('list', ALL)).toEqual({ entries: [], through: null });
    expect(await scene.answer('count', {})).toMatchObject({ inQueue: 0, completed: 0 });
    expect(await scene.answer('renew', { proofs: [proof, proof] })).toEqual(['lost', 'lost']);
    expect(await scene.answer('hold', { proof, chunk: { index: 0, bytes: 1 } })).toEqual({ kind: 'superseded' });
    expect(await scene.answer('take', { wish: scene.takeWish(), waitMs: 0 })).toEqual([]);
    expect(scene.model.history(ENDPOINT)).toEqual([]);
  });
});

describe('renewals', () => {
  test('say which attempts are over', async () => {
    await scene.submit();
    await scene.submit();
    const [over, held] = await scene.take(2);
    if (over === undefined || held === undefined) throw new Error('both wait');
    await scene.finish(over);
    expect(await scene.answer('renew', { proofs: [over, held] })).toEqual(['lost', 'renewed']);
  });

  test('are granted at once while the endpoint is being opened', async () => {
    await scene.submit();
    const proof = await scene.takeOne();
    const next = new DeskScene();
    for (const entry of scene.model.history(ENDPOINT)) {
      if ('facts' in entry)
        next.model.store({ ...entry, endpointId: ENDPOINT, after: next.model.lastSequence(ENDPOINT) });
    }
    // What runs is opened as soon as the shard is taken, which takes its time.
    await next.start();
    const forged = { ...proof, token: 'forged' };
    expect(await next.answer('renew', { proofs: [proof, forged] })).toEqual(['renewed', 'renewed']);
    await next.answer('count', {});
    expect(await next.answer('renew', { proofs: [proof, forged] })).toEqual(['renewed', 'lost']);
  });
});

describe('a hold', () => {
  test('is over with its attempt', async () => {
    await scene.submit();
    const proof = await scene.takeOne();
    const held = { kind: 'held', createdAtMs: scene.clock.nowMs(), input: null, watchers: [] };
    expect(await scene.answer('hold', { proof, chunk: null })).toEqual(held);
    await scene.finish(proof);
    expect(await scene.answer('hold', { proof, chunk: null })).toEqual({ kind: 'superseded' });
  });

  test('brings the manifest of an input that lies beside the log', async () => {
    const manifest = { name: 'in', parts: 1, sizeBytes: 70_000, sha256: 'ab' };
    await scene.submit({ bodyBytes: 70_000 }, { kind: 'blob', manifest });
    await scene.submit({ bodyBytes: 70_000 }, large());
    const [beside, inLog] = await scene.take(2);
    if (beside === undefined || inLog === undefined) throw new Error('both wait');
    expect(await scene.answer('hold', { proof: beside, chunk: null })).toMatchObject({ input: manifest });
    expect(await scene.answer('hold', { proof: inLog, chunk: null })).toMatchObject({ input: null });
  });

  test('names who waits for chunks, and not who waits for the end alone', async () => {
    const jobId = await scene.submit();
    const proof = await scene.takeOne();
    await scene.answer('find', { jobId, watcher: { router: 'reader', news: 'any' } });
    await scene.answer('find', { jobId, watcher: { router: 'waiter', news: 'end' } });
    expect(await scene.answer('hold', { proof, chunk: { index: 0, bytes: 1 } })).toMatchObject({
      watchers: ['reader'],
    });
    await scene.clock.advance(WATCH_KEPT_MS);
    expect(await scene.answer('hold', { proof, chunk: { index: 0, bytes: 1 } })).toMatchObject({ watchers: [] });
  });

  test('is full where the attempt would stream more than it may, and says how much that is', async () => {
    const maxBytes = 2_000_000;
    scene.snapshots.set(ENDPOINT, endpointSnapshot({ limits: { chunkBytesPerAttempt: maxBytes } }));
    await scene.submit();
    const proof = await scene.takeOne();
    let index = 0;
    const hold = (bytes: number) => scene.answer('hold', { proof, chunk: { index: index++, bytes } });
    const full = { kind: 'full', limit: 'chunkBytesPerAttempt', maxBytes };
    expect(await hold(1_500_000)).toMatchObject({ kind: 'held' });
    expect(await hold(500_001)).toEqual(full);
    expect(await hold(500_000)).toMatchObject({ kind: 'held' });
    expect(await hold(1)).toEqual(full);
    expect(await scene.answer('hold', { proof, chunk: null })).toMatchObject({ kind: 'held' });
  });

  test('is held once more where it comes again, and counts once', async () => {
    scene.snapshots.set(ENDPOINT, endpointSnapshot({ limits: { chunkBytesPerAttempt: 1_500_000 } }));
    await scene.submit();
    const proof = await scene.takeOne();
    const chunk = { index: 0, bytes: 1_000_000 };
    for (let time = 0; time < 3; time += 1) {
      expect(await scene.answer('hold', { proof, chunk })).toMatchObject({ kind: 'held' });
    }
    expect(scene.quotas.bytesOf('a1' as never)).toBe(1_000_000);
  });

  test('is full where its account would have more than it may, whichever of its jobs streams', async () => {
    const limits = { chunkBytesPerAttempt: 1_500_000, chunkBytes: 2_000_000 };
    scene.snapshots.set(ENDPOINT, endpointSnapshot({ limits }));
    for (let job = 0; job < 2; job += 1) await scene.submit();
    const [first, second] = await scene.take(2);
    if (first === undefined || second === undefined) throw new Error('two wait');
    const chunk = { index: 0, bytes: 1_200_000 };
    expect(await scene.answer('hold', { proof: first, chunk })).toMatchObject({ kind: 'held' });
    expect(await scene.answer('hold', { proof: second, chunk })).toEqual({
      ...{ kind: 'full', limit: 'chunkBytes', maxBytes: 2_000_000 },
    });
    expect(await scene.finish(first)).toEqual({ kind: 'recorded' });
    expect(await scene.find(first.jobId)).toMatchObject({ state: 'COMPLETED' });
  });

  test('lets 64 MiB be streamed where nobody has said otherwise', async () => {
    await scene.submit();
    const proof = await scene.takeOne();
    const maxBytes = 64 * 1024 ** 2;
    const hold = (index: number, bytes: number) => scene.answer('hold', { proof, chunk: { index, bytes } });
    expect(await hold(0, maxBytes)).toMatchObject({ kind: 'held' });
    expect(await hold(1, 1)).toEqual({ kind: 'full', limit: 'chunkBytesPerAttempt', maxBytes });
  });
});

test('who asks of a job that is not there yet is to be told when it is', async () => {
  await scene.answer('find', { jobId: NOBODY, watcher: { router: 'r2', news: 'any' } });
  expect(scene.watchers.of({ endpointId: ENDPOINT, jobId: NOBODY }, 'moved')).toEqual(['r2']);
});

test('the trace of a job is told to who wants it, and its body is read for nobody else', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
  const jobId = await scene.submit({ body: { ...scene.wish({}, large()).body, traceparent } });
  const next = new DeskScene();
  for (const entry of scene.model.history(ENDPOINT)) {
    if ('facts' in entry)
      next.model.store({ ...entry, endpointId: ENDPOINT, after: next.model.lastSequence(ENDPOINT) });
  }
  await next.start();
  expect(await next.find(jobId)).not.toHaveProperty('traceparent');
  const before = next.reads.length;
  expect(await next.answer('find', { jobId, watcher: null, wantsTrace: true })).toMatchObject({ jobId, traceparent });
  expect(next.reads.length - before).toBe(1);
  expect(await next.answer('find', { jobId: NOBODY, watcher: null, wantsTrace: true })).toBeNull();
});

test('takes and withdrawals go to whoever holds them', async () => {
  const jobId = await scene.submit();
  expect(await scene.answer('take', { wish: scene.takeWish(), waitMs: 5_000 })).toMatchObject([{ jobId, attempt: 1 }]);
  expect(await scene.answer('withdraw', { hostId: HOST, workerId: 'w1' as never })).toBeNull();
  expect(scene.withdrawn).toEqual(['w1']);
});

test('who could not pass a job on takes it back, unless somebody else has asked for its take since', async () => {
  const jobId = await scene.submit();
  const asker = scene.takeWish();
  const [job] = await scene.answer('take', { wish: asker, waitMs: 5_000 });
  const proof = { jobId, attempt: job?.attempt ?? 0, token: job?.token ?? '', hostId: HOST };
  const loss = { reason: 'undelivered', isCharged: false, logTail: [], fraction: 0 };
  const takeBack = () => scene.answer('take-back', { asker, command: { kind: 'give-up', ...proof, ...loss } });
  scene.lastSecret = 'of another one';
  expect(await takeBack()).toEqual({ kind: 'superseded' });
  expect(await scene.find(jobId)).toMatchObject({ state: 'IN_PROGRESS' });
  scene.lastSecret = asker.secret;
  expect(await takeBack()).toMatchObject({ kind: 'recorded' });
  expect(await scene.find(jobId)).toMatchObject({ state: 'IN_QUEUE' });
});

describe('an account that takes all that it may', () => {
  const OTHER = 'e-other' as EndpointId;
  const submitTo = async (endpointId: EndpointId, more: Partial<JobWish>, key: string | null) => {
    const named = { name: key ?? '', firstId: 'f' as JobId, size: 1, item: 0, fingerprint: 'p' };
    const jobs = [scene.wish(more)].map((job) =>
      key === null ? job : { ...job, jobId: itemJobId({ ...named, firstId: key as JobId }, 0) },
    );
    const command = {
      ...({ kind: 'submit', sentAtMs: scene.clock.nowMs(), jobs } as const),
      key: key === null ? null : { ...named, firstId: key as JobId },
    };
    const said = await scene.desk.answer(endpointId, 'perform', { command });
    return said === 'silent' || said.kind === 'refused' ? said : said.answer;
  };

  test.each<[string, LimitOverrides, Partial<JobWish>]>([
    ['jobs', { jobsPerEndpoint: 2 }, {}],
    ['bytes of payloads', { payloadBytesPerEndpoint: 2_000 }, { bodyBytes: 1_000 }],
    ['idempotency keys', { idempotencyKeysPerEndpoint: 2 }, {}],
  ])('of %s is refused itself, and nobody else', async (_, limits, more) => {
    const isNamed = 'idempotencyKeysPerEndpoint' in limits;
    scene.snapshots.set(ENDPOINT, endpointSnapshot({ limits }));
    scene.snapshots.set(OTHER, endpointSnapshot({ id: OTHER, accountId: 'a2' as never }));
    const submit = (endpointId: EndpointId, at: number) => submitTo(endpointId, more, isNamed ? `key-${at}` : null);
    for (const at of [1, 2]) expect(await submit(ENDPOINT, at)).toMatchObject({ kind: 'accepted' });
    for (const at of [3, 4]) {
      expect(await submit(ENDPOINT, at)).toMatchObject({
        ...{ kind: 'refused', code: 'limit-reached' },
        detail: expect.stringContaining(`(account limit ${Object.keys(limits)[0]})`),
        retryAfterMs: expect.any(Number),
      });
      expect(await submit(OTHER, at)).toMatchObject({ kind: 'accepted' });
    }
  });

  test('of webhooks that are to be told is refused those alone, and nobody else', async () => {
    scene.snapshots.set(ENDPOINT, endpointSnapshot({ limits: { pendingDeliveriesPerEndpoint: 1 } }));
    scene.snapshots.set(OTHER, endpointSnapshot({ id: OTHER, accountId: 'a2' as never }));
    const told = { webhook: 'https://hooks.example/end' };
    await scene.submit(told);
    await scene.finish(await scene.takeOne());
    expect(await submitTo(ENDPOINT, told, null)).toMatchObject({ kind: 'refused', reason: 'too-many-deliveries' });
    expect(await submitTo(ENDPOINT, {}, null)).toMatchObject({ kind: 'accepted' });
    expect(await submitTo(OTHER, told, null)).toMatchObject({ kind: 'accepted' });
  });
});
