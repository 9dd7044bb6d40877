import {
  PlatformError,
  describeJob,
  isEnded,
  isOlder,
  newestFirst,
  summarizeJob,
  type AccountId,
  type EndpointId,
  type Job,
  type JobDetail,
  type JobId,
  type JobState,
} from '@berth/domain';
import type { JobStore } from '@berth/jobs';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom, runningJob, sampleJob } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { JobView } from '../job-view/job-view.service.js';
import { SCAN_MAX } from './live-slice.js';
import { requestsMetrics } from './metrics.js';
import { parseRequestsQuery } from './requests-query.js';
import { Requests } from './requests.service.js';

const ENDPOINT = { id: 'ep' as EndpointId, accountId: 'account-1' as AccountId };
const QUEUE = { reason: 'no-worker', detail: 'none is there' };

/** Records, a view of them and a history, each as the test sets it. */
class Scene {
  readonly clock = new ManualClock(1_750_000_100_000);
  readonly records = new Map<string, Job>();
  readonly past = new Map<string, JobDetail>();
  readonly view = new JobView();
  completeUntilMs: number | null = this.clock.nowMs();
  isHistoryAway = false;
  historyQuestions = 0;
  #sequence = 0;

  readonly requests = new Requests({
    store: this.#store(),
    view: this.view,
    feed: { isWhole: true },
    history: {
      list: async ({ accountId, before, limit, statuses }) => {
        this.#answer(accountId);
        const jobs = [...this.past.values()]
          .filter((job) => statuses.includes(job.status) && (before === null || isOlder(job, before)))
          .toSorted(newestFirst)
          .slice(0, limit);
        return { jobs, completeUntilMs: this.completeUntilMs };
      },
      get: async ({ accountId, jobId }) => {
        this.#answer(accountId);
        return { job: this.past.get(jobId) ?? null, completeUntilMs: this.completeUntilMs };
      },
    },
    reasons: { of: ({ state }) => (state === 'IN_QUEUE' ? (QUEUE as never) : null) },
    logger: silentLogger,
    metrics: requestsMetrics(new MetricRegistry()),
  });

  /** A job as record, view and history know it together. */
  put(job: Job): Job {
    this.records.set(job.id, job);
    this.see(job);
    if (isEnded(job.state)) this.past.set(job.id, describeJob(job, 0));
    return job;
  }

  see({ attempt, createdAtMs, current, endpointId, expiresAtMs, id, queuedAtMs, state }: Job): void {
    this.#sequence += 1;
    this.view.apply({
      ...{
        endpointId,
        jobId: id,
        state,
        attempt,
        createdAtMs,
        queuedAtMs,
        expiresAtMs,
        recordSequence: this.#sequence,
      },
      ...{ charged: 0, isLowPriority: false, hasWebhook: false, notBeforeMs: 0, endedAtMs: null, deadlineAtMs: null },
      ...{ startedAtMs: current?.startedAtMs ?? null, hostId: null, token: null },
    });
  }

  expire(id: string): void {
    this.records.delete(id);
    this.view.remove({ endpointId: ENDPOINT.id, jobId: id as JobId }, this.clock.nowMs());
  }

  async list(query: Record<string, unknown> = {}) {
    const text = await this.requests.list(ENDPOINT, parseRequestsQuery(query));
    return JSON.parse(text) as {
      requests: { id: string; status: string; queue?: object }[];
      cursor: string | null;
      degraded?: { source: string; detail: string }[];
    };
  }

  async get(id: string): Promise<Record<string, unknown>> {
    const key = { endpointId: ENDPOINT.id, jobId: id as JobId };
    return JSON.parse(await this.requests.get(ENDPOINT, key)) as Record<string, unknown>;
  }

  #answer(accountId: AccountId): void {
    this.historyQuestions += 1;
    if (this.isHistoryAway) throw new Error('nobody answers');
    if (accountId !== ENDPOINT.accountId) throw new Error('the account is not the endpoint’s');
  }

  #store(): JobStore {
    const read = async ({ jobId }: { readonly jobId: JobId }) => {
      const job = this.records.get(jobId);
      return job === undefined ? null : { job, sequence: 1 };
    };
    return { records: { read }, clock: this.clock, random: new SeededRandom(1) } as unknown as JobStore;
  }
}

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});

const T = 1_750_000_000_000;
const key = (id: string) => ({ endpointId: ENDPOINT.id, jobId: id as JobId });
const queued = (id: string, createdAtMs = T): Job => sampleJob(key(id), { createdAtMs, queuedAtMs: createdAtMs });
const running = (id: string, createdAtMs = T): Job => runningJob(key(id), { createdAtMs, queuedAtMs: createdAtMs });
const ended = (id: string, state: JobState = 'COMPLETED', createdAtMs = T): Job =>
  runningJob(key(id), { state, createdAtMs, queuedAtMs: createdAtMs, endedAtMs: createdAtMs + 2_000 });

const idsOf = ({ requests }: Awaited<ReturnType<Scene['list']>>): string[] => requests.map(({ id }) => id);

describe('the list of an endpoint’s jobs', () => {
  test('says of each what is known, with null for what is not, and why those wait that do', async () => {
    scene.put(queued('waits', T + 2));
    scene.put(running('runs', T + 1));
    scene.put({ ...ended('done'), error: null });
    const { cursor, degraded, requests } = await scene.list();
    expect([cursor, degraded]).toEqual([null, undefined]);
    expect(requests).toEqual([
      {
        id: 'waits',
        status: 'IN_QUEUE',
        createdAt: '2025-06-15T15:06:40.002Z',
        startedAt: null,
        completedAt: null,
        delayTime: 99_998,
        executionTime: 0,
        workerId: null,
        attempts: 0,
        error: null,
        queue: QUEUE,
      },
      expect.objectContaining({
        id: 'runs',
        status: 'IN_PROGRESS',
        startedAt: '2025-06-15T15:06:41.000Z',
        attempts: 1,
      }),
      {
        id: 'done',
        status: 'COMPLETED',
        createdAt: '2025-06-15T15:06:40.000Z',
        startedAt: '2025-06-15T15:06:41.000Z',
        completedAt: '2025-06-15T15:06:42.000Z',
        delayTime: 1_000,
        executionTime: 1_000,
        workerId: 'worker-1',
        attempts: 1,
        error: null,
      },
    ]);
  });

  test('goes on with the history where records have expired', async () => {
    for (let n = 0; n < 9; n += 1) scene.put(ended(`job-${n}`, 'COMPLETED', T + n));
    for (const n of [0, 3, 4, 8]) scene.expire(`job-${n}`);
    const first = await scene.list({ limit: '4' });
    expect(idsOf(first)).toEqual(['job-8', 'job-7', 'job-6', 'job-5']);
    scene.put(queued('new', T + 50));
    const second = await scene.list({ limit: '4', cursor: first.cursor });
    expect(idsOf(second)).toEqual(['job-4', 'job-3', 'job-2', 'job-1']);
    const third = await scene.list({ limit: '4', cursor: second.cursor });
    expect([idsOf(third), third.cursor]).toEqual([['job-0'], null]);
  });

  test('believes the record, whatever the history still says', async () => {
    scene.put(ended('again', 'FAILED'));
    scene.records.set('again', queued('again'));
    expect((await scene.list({ status: 'FAILED' })).requests).toEqual([]);
    scene.see(queued('again'));
    expect((await scene.list({ status: 'FAILED' })).requests).toEqual([]);
    expect(idsOf(await scene.list({ status: 'IN_QUEUE' }))).toEqual(['again']);
  });

  test('leaves out what has gone without an end, and tells from the history what has gone since it was seen', async () => {
    scene.put(queued('purged'));
    scene.records.delete('purged');
    scene.put(ended('ended'));
    scene.records.delete('ended');
    expect(idsOf(await scene.list())).toEqual(['ended']);
  });

  test.each<[string, string[]]>([
    ['IN_QUEUE', ['q']],
    ['IN_PROGRESS,IN_QUEUE', ['r', 'q']],
    ['COMPLETED, TIMED_OUT', ['t', 'c']],
    ['CANCELLED', []],
  ])('of status %s', async (status, expected) => {
    scene.put(queued('q', T + 1));
    scene.put(running('r', T + 2));
    scene.put(ended('c', 'COMPLETED', T + 3));
    scene.put(ended('t', 'TIMED_OUT', T + 4));
    scene.expire('t');
    expect(idsOf(await scene.list({ status }))).toEqual(expected);
  });

  test('asks no history about jobs that have not ended', async () => {
    await scene.list({ status: 'IN_QUEUE,IN_PROGRESS' });
    expect(scene.historyQuestions).toBe(0);
    await scene.list({ status: 'FAILED' });
    expect(scene.historyQuestions).toBe(1);
  });

  test('stops looking where few jobs have the wanted status, and goes on from there', async () => {
    scene.put(running('deep', T - 1));
    for (let n = 0; n < SCAN_MAX; n += 1) scene.see(queued(`job-${n}`, T + n));
    const first = await scene.list({ status: 'IN_PROGRESS' });
    expect(first.requests).toEqual([]);
    const second = await scene.list({ status: 'IN_PROGRESS', cursor: first.cursor });
    expect([idsOf(second), second.cursor]).toEqual([['deep'], null]);
  });

  test('tells the live jobs, and says what may be missing, while the history is away or behind', async () => {
    scene.put(ended('here'));
    scene.put(ended('gone'));
    scene.expire('gone');
    scene.isHistoryAway = true;
    expect(await scene.list()).toMatchObject({
      requests: [{ id: 'here' }],
      degraded: [{ source: 'history', detail: expect.stringContaining('does not answer') }],
    });
    scene.isHistoryAway = false;
    scene.completeUntilMs = scene.clock.nowMs() - 60_000;
    expect(await scene.list()).toMatchObject({
      requests: [{ id: 'here' }, { id: 'gone' }],
      degraded: [{ source: 'history', detail: expect.stringContaining('complete up to 2025-06-15T15:07:20') }],
    });
    scene.completeUntilMs = null;
    expect((await scene.list()).degraded).toHaveLength(1);
  });
});

describe('one job', () => {
  test('is told with its attempts, from its record or from the history', async () => {
    const attempt = {
      ...{
        attempt: 1,
        hostId: 'host-1',
        workerId: 'worker-1',
        startedAtMs: T,
        endedAtMs: T + 500,
        stoppedAtMs: T + 600,
      },
      ...{ outcome: 'lost', reason: 'worker lost', logTail: ['bye'] },
    };
    const job = {
      ...ended('job', 'FAILED'),
      attempt: 2,
      history: [attempt],
      webhook: 'https://me.example.com/x?key=1',
    } as unknown as Job;
    scene.put(job);
    const told = await scene.get('job');
    expect(told).toMatchObject({
      id: 'job',
      attempts: 2,
      webhook: 'https://me.example.com',
      history: [
        {
          ...{ attempt: 1, hostId: 'host-1', workerId: 'worker-1', outcome: 'lost', reason: 'worker lost' },
          ...{ startedAt: '2025-06-15T15:06:40.000Z', endedAt: '2025-06-15T15:06:40.500Z' },
          ...{ stoppedAt: '2025-06-15T15:06:40.600Z', logTail: ['bye'] },
        },
      ],
    });
    scene.expire('job');
    expect(await scene.get('job')).toEqual(told);
    expect(summarizeJob(job, 0).attempts).toBe(2);
  });

  test('is not found only where the history could tell', async () => {
    await expect(scene.get('nothing')).rejects.toMatchObject({ code: 'job-not-found' });
    scene.completeUntilMs = scene.clock.nowMs() - 60_000;
    await expect(scene.get('nothing')).rejects.toMatchObject({ code: 'service-unavailable' });
    scene.isHistoryAway = true;
    await expect(scene.get('nothing')).rejects.toMatchObject({ code: 'service-unavailable' });
  });
});

describe('the query', () => {
  test('has defaults for what is absent or empty', () => {
    const defaults = { limit: 20, before: null };
    expect(parseRequestsQuery({})).toMatchObject(defaults);
    expect(parseRequestsQuery({ limit: '', status: '', cursor: '' })).toMatchObject(defaults);
    expect(parseRequestsQuery({ status: ['FAILED', 'COMPLETED'] }).statuses).toEqual(new Set(['COMPLETED', 'FAILED']));
  });

  test.each(['0', '101', '1.5', '-1', 'x', '1e1'])('refuses limit %s', (limit) => {
    expect(() => parseRequestsQuery({ limit })).toThrow('limit: must be an integer from 1 to 100');
  });

  test('names every failure, and the words that are allowed', () => {
    try {
      parseRequestsQuery({ status: 'FAILED,DONE', limit: 'x', cursor: '%' });
      throw new Error('it was accepted');
    } catch (error) {
      expect(error).toBeInstanceOf(PlatformError);
      expect((error as PlatformError).errors).toEqual([
        'status: must be one or several, comma separated, of IN_QUEUE, IN_PROGRESS, COMPLETED, FAILED, CANCELLED, TIMED_OUT',
        'limit: must be an integer from 1 to 100',
        'cursor: must be one that an answer of this path has named',
      ]);
    }
  });
});
