import type { TakeReply, TakeRequest, TakenJob } from '@berth/contracts';
import { ATTEMPT_LEASE_MS, type EndpointId, type WorkerId } from '@berth/domain';
import { TransportError } from '@berth/messaging';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, SeededRandom, eventually, letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { HostTakes, type SentWish } from './host-takes.js';
import { jobClientMetrics } from './metrics.js';
import type { PartsOptions, RouterLink } from './router-link.port.js';

const ASK = { endpointId: 'ep' as EndpointId, workerId: 'w' as WorkerId, slots: 1, waitMs: 5_000 };
const JOB = { jobId: 'j' } as TakenJob;

let asked: { readonly request: TakeRequest; readonly options: PartsOptions<TakeReply> }[];
let failing: PromiseWithResolvers<void>;
let late: { readonly jobs: readonly TakenJob[]; readonly wish: SentWish }[];
let takes: HostTakes;
let clock: ManualClock;
let stopping: AbortController;

beforeEach(() => {
  asked = [];
  late = [];
  failing = Promise.withResolvers();
  clock = new ManualClock();
  stopping = new AbortController();
  const askParts = (_: string, request: unknown, options: unknown): Promise<void> => {
    asked.push({ request: request as TakeRequest, options: options as PartsOptions<TakeReply> });
    return failing.promise;
  };
  takes = new HostTakes({
    ...{ link: { askParts } as unknown as RouterLink, clock, random: new SeededRandom(1) },
    signal: stopping.signal,
    metrics: jobClientMetrics(new MetricRegistry()),
    onLate: (jobs, wish) => void late.push({ jobs, wish }),
  });
});

const takeIds = (): readonly string[] => asked.flatMap(({ request }) => request.wishes.map(({ takeId }) => takeId));

test('each wish has a name of its own, and its answer is known by it', async () => {
  const taken = [takes.ask(ASK), takes.ask(ASK)];
  await eventually(() => expect(asked).toHaveLength(1));
  const [first = '', second = ''] = takeIds();
  expect(first).not.toBe(second);
  const tell = asked[0]?.options.onPart ?? (() => false);
  expect(tell({ answers: [{ takeId: second, kind: 'jobs', jobs: [JOB] }] })).toBe(false);
  expect(tell({ answers: [{ takeId: first, kind: 'none' }] })).toBe(true);
  expect((await Promise.all(taken)).map(({ answer }) => answer.kind)).toEqual(['none', 'jobs']);
  expect(takes.waiting).toBe(0);
});

test('a job that comes after its wish was given up is told, to be given back', async () => {
  const taken = takes.ask(ASK);
  await eventually(() => expect(asked).toHaveLength(1));
  failing.reject(new Error('no answer'));
  await expect(taken).rejects.toThrow('no answer');
  const [takeId = ''] = takeIds();
  asked[0]?.options.onLate({ answers: [{ takeId, kind: 'jobs', jobs: [JOB] }] });
  expect(late).toEqual([{ jobs: [JOB], wish: { workerId: 'w', sentAtMs: expect.any(Number) } }]);
});

describe('a wish whose router is gone', () => {
  const unanswered = new TransportError('unanswered', 'gone', { isRetriable: true });

  /** Asks, and loses the answer after two seconds. */
  async function loseAnswer() {
    const sentAtMs = clock.monotonicMs();
    const taken = takes.ask(ASK);
    await eventually(() => expect(asked).toHaveLength(1));
    await clock.advance(2_000);
    failing.reject(unanswered);
    failing = Promise.withResolvers();
    await eventually(async () => {
      await clock.advance(10);
      expect(asked).toHaveLength(2);
    });
    const [takeId = ''] = takeIds();
    return { sentAtMs, taken, takeId };
  }

  test('is asked again under its name, for what is left of its time, and gets the jobs that it was given', async () => {
    const { sentAtMs, takeId, taken } = await loseAnswer();
    expect(takeIds()).toEqual([takeId, takeId]);
    expect(asked[1]?.request.wishes[0]?.waitMs).toBeLessThan(3_000);
    asked[1]?.options.onPart({ answers: [{ takeId, kind: 'jobs', jobs: [JOB] }] });
    expect(await taken).toEqual({ answer: { takeId, kind: 'jobs', jobs: [JOB] }, sentAtMs });
  });

  test('gets its jobs from whoever was asked first, if that one says so after all', async () => {
    const { takeId, taken } = await loseAnswer();
    asked[0]?.options.onLate({ answers: [{ takeId, kind: 'none' }] });
    asked[0]?.options.onLate({ answers: [{ takeId, kind: 'jobs', jobs: [JOB] }] });
    expect((await taken).answer.kind).toBe('jobs');
    expect(late).toEqual([]);
  });

  test('and that got none gives back what it is given later', async () => {
    const { sentAtMs, takeId, taken } = await loseAnswer();
    asked[1]?.options.onPart({ answers: [{ takeId, kind: 'none' }] });
    expect((await taken).answer.kind).toBe('none');
    asked[0]?.options.onLate({ answers: [{ takeId, kind: 'jobs', jobs: [JOB] }] });
    expect(late).toEqual([{ jobs: [JOB], wish: { workerId: 'w', sentAtMs } }]);
  });

  test('fails when nobody can say any more what became of it', async () => {
    const taken = takes.ask(ASK).catch((error: unknown) => error);
    const untilMs = clock.monotonicMs() + ATTEMPT_LEASE_MS + 10_000;
    let failed = 0;
    while (clock.monotonicMs() < untilMs) {
      await clock.advance(100);
      await letRun();
      if (asked.length === failed) continue;
      failed = asked.length;
      const { reject } = failing;
      failing = Promise.withResolvers();
      reject(unanswered);
    }
    expect(await taken).toBe(unanswered);
    expect(takes.waiting).toBe(0);
    const count = asked.length;
    await clock.advance(ATTEMPT_LEASE_MS);
    await letRun();
    expect(asked).toHaveLength(count);
  });
});

test('a wish that nobody answers who keeps its jobs is asked again, and those beside it wait on', async () => {
  const [first, second] = [takes.ask(ASK), takes.ask(ASK)];
  await eventually(() => expect(asked).toHaveLength(1));
  const [unheard = '', held = ''] = takeIds();
  expect(asked[0]?.options.onPart({ answers: [{ takeId: unheard, kind: 'unanswered' }] })).toBe(false);
  await eventually(async () => {
    await clock.advance(10);
    expect(asked).toHaveLength(2);
  });
  expect(takeIds().slice(2)).toEqual([unheard]);
  asked[1]?.options.onPart({ answers: [{ takeId: unheard, kind: 'jobs', jobs: [JOB] }] });
  asked[0]?.options.onPart({ answers: [{ takeId: held, kind: 'none' }] });
  expect((await Promise.all([first, second])).map(({ answer }) => answer.kind)).toEqual(['jobs', 'none']);
});

test('a wish that nobody answers fails in time, and what it got is asked for until it is known, to be given back', async () => {
  const startMs = clock.monotonicMs();
  const taken = takes.ask(ASK);
  let failedAfterMs = 0;
  taken.catch(() => (failedAfterMs = clock.monotonicMs() - startMs));
  const silent = new TransportError('timeout', 'no answer', { isRetriable: true });
  const sayNothing = async (): Promise<void> => {
    const before = asked.length;
    failing.reject(silent);
    failing = Promise.withResolvers();
    while (asked.length === before) {
      await clock.advance(100);
      await letRun();
    }
  };
  await eventually(() => expect(asked).toHaveLength(1));
  while (failedAfterMs === 0) await sayNothing();
  await expect(taken).rejects.toBe(silent);
  expect(failedAfterMs).toBeGreaterThanOrEqual(9_000);
  expect(failedAfterMs).toBeLessThan(15_000);
  const last = asked.at(-1);
  expect(last?.request.wishes).toMatchObject([{ takeId: takeIds()[0], waitMs: 0 }]);
  last?.options.onPart({ answers: [{ takeId: takeIds()[0] ?? '', kind: 'jobs', jobs: [JOB] }] });
  expect(late).toEqual([{ jobs: [JOB], wish: { workerId: 'w', sentAtMs: startMs } }]);
});

test('a wish is asked no more once the host has stopped', async () => {
  const taken = takes.ask(ASK).catch((error: unknown) => error);
  await eventually(() => expect(asked).toHaveLength(1));
  const silent = new TransportError('timeout', 'no answer', { isRetriable: true });
  failing.reject(silent);
  failing = Promise.withResolvers();
  await letRun();
  stopping.abort();
  expect(await taken).toBe(silent);
  await clock.advance(ATTEMPT_LEASE_MS);
  await letRun();
  expect(asked).toHaveLength(1);
});

test('no more wishes wait than a router holds for one host', async () => {
  const many = Array.from({ length: 4_096 }, () => takes.ask(ASK));
  await expect(takes.ask(ASK)).rejects.toThrow('as many wishes wait');
  await eventually(() => expect(asked.map(({ request }) => request.wishes.length)).toEqual(Array(16).fill(256)));
  failing.reject(new Error('over'));
  await Promise.allSettled(many);
  expect(takes.waiting).toBe(0);
});
