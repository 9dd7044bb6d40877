import type { ListedJob, ListedQueue } from '@berth/contracts';
import {
  PlatformError,
  describeJob,
  isEnded,
  isOlder,
  newestFirst,
  type AccountId,
  type EndpointId,
  type HostId,
  type JobDetail,
  type JobId,
  type JobState,
  type ToldJob,
  type WorkerId,
} from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Jobs } from '../edge/index.js';
import { requestsMetrics } from './metrics.js';
import { parseRequestsQuery } from './requests-query.js';
import { Requests } from './requests.js';

const ENDPOINT = { id: 'ep' as EndpointId, accountId: 'account-1' as AccountId };
const QUEUE = { reason: 'no-worker', detail: 'none is there' };

/** Jobs that are here and a history, each as the test sets it. */
class Scene {
  readonly clock = new ManualClock(1_750_000_100_000);
  readonly here = new Map<string, ToldJob>();
  readonly past = new Map<string, JobDetail>();
  completeUntilMs: number | null = this.clock.nowMs();
  isHistoryAway = false;
  historyQuestions = 0;

  readonly requests = new Requests({
    jobs: this.#jobs(),
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
    reasons: { of: (_, queue) => (queue === null ? null : (QUEUE as never)) },
    clock: this.clock,
    logger: silentLogger,
    metrics: requestsMetrics(new MetricRegistry()),
  });

  /** A job as it is known here and in the history together. */
  put(job: ToldJob): ToldJob {
    this.here.set(job.jobId, job);
    if (isEnded(job.state)) this.past.set(job.jobId, describeJob(job, 0));
    return job;
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

  #jobs(): Pick<Jobs, 'describe' | 'list'> {
    return {
      list: async (_, { alsoIds, before, limit, statuses }) => {
        const below = [...this.here.values()]
          .map((job) => listed(job, this.clock.nowMs()))
          .filter((job) => before === null || isOlder(job, before))
          .toSorted(newestFirst);
        const page = below.filter(({ status }) => statuses.has(status)).slice(0, limit + 1);
        const entries = below.filter((job) => page.includes(job) || alsoIds.includes(job.jobId));
        return { entries, through: page.length > limit ? (page.at(-1) ?? null) : null };
      },
      describe: async ({ jobId }) => {
        const job = this.here.get(jobId);
        const nowMs = this.clock.nowMs();
        return job === undefined ? null : { detail: describeJob(job, nowMs), queue: listed(job, nowMs).queue };
      },
    };
  }
}

const listed = (job: ToldJob, nowMs: number): ListedJob => ({
  ...summaryOf(describeJob(job, nowMs)),
  queue: job.state === 'IN_QUEUE' ? ({ position: 1 } as ListedQueue) : null,
});

/** What a list shows of a job. */
const summaryOf = ({ attemptList: _attempts, webhook: _webhook, ...summary }: JobDetail) => summary;

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});

const T = 1_750_000_000_000;
const queued = (id: string, createdAtMs = T): ToldJob => ({
  ...{ jobId: id as JobId, state: 'IN_QUEUE', origin: 'run', createdAtMs, queuedAtMs: createdAtMs, endedAtMs: null },
  ...{ attempt: 1, current: null, history: [], error: null, webhook: null },
});
const running = (id: string, createdAtMs = T): ToldJob => ({
  ...queued(id, createdAtMs),
  state: 'IN_PROGRESS',
  current: { hostId: 'host-1' as HostId, workerId: 'worker-1' as WorkerId, startedAtMs: T + 1_000 },
});
const ended = (id: string, state: JobState = 'COMPLETED', createdAtMs = T): ToldJob => ({
  ...running(id, createdAtMs),
  state,
  endedAtMs: createdAtMs + 2_000,
});

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

  test('goes on with the history where jobs have gone', async () => {
    for (let n = 0; n < 9; n += 1) scene.put(ended(`job-${n}`, 'COMPLETED', T + n));
    for (const n of [0, 3, 4, 8]) scene.here.delete(`job-${n}`);
    const first = await scene.list({ limit: '4' });
    expect(idsOf(first)).toEqual(['job-8', 'job-7', 'job-6', 'job-5']);
    scene.put(queued('new', T + 50));
    const second = await scene.list({ limit: '4', cursor: first.cursor });
    expect(idsOf(second)).toEqual(['job-4', 'job-3', 'job-2', 'job-1']);
    const third = await scene.list({ limit: '4', cursor: second.cursor });
    expect([idsOf(third), third.cursor]).toEqual([['job-0'], null]);
  });

  test('believes what is here, whatever the history still says', async () => {
    scene.put(ended('again', 'FAILED'));
    scene.here.set('again', queued('again'));
    expect((await scene.list({ status: 'FAILED' })).requests).toEqual([]);
    expect(idsOf(await scene.list({ status: 'IN_QUEUE' }))).toEqual(['again']);
    expect(idsOf(await scene.list())).toEqual(['again']);
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
    scene.here.delete('t');
    expect(idsOf(await scene.list({ status }))).toEqual(expected);
  });

  test('asks no history about jobs that have not ended', async () => {
    await scene.list({ status: 'IN_QUEUE,IN_PROGRESS' });
    expect(scene.historyQuestions).toBe(0);
    await scene.list({ status: 'FAILED' });
    expect(scene.historyQuestions).toBe(1);
  });

  test('tells the live jobs, and says what may be missing, while the history is away or behind', async () => {
    scene.put(ended('here'));
    scene.put(ended('gone'));
    scene.here.delete('gone');
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
  test('is told with its attempts, from what is here or from the history', async () => {
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
    } as unknown as ToldJob;
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
    scene.here.delete('job');
    expect(await scene.get('job')).toEqual(told);
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
