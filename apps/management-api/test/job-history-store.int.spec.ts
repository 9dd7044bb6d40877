import {
  TOLD_TEXT_MAX,
  describeJob,
  isEnded,
  projectEvents,
  summarizeJob,
  type AccountId,
  type EndpointId,
  type HistoryEvent,
  type Job,
  type JobId,
  type JobState,
  type JobSummary,
  type PageKey,
} from '@berth/domain';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { HistoryProgress } from '../src/job-history/job-history-records.port.js';
import { RefusedRowError } from '../src/job-history/job-history-records.port.js';
import { Database } from '../src/persistence/database.js';
import { JobHistoryPartitions } from '../src/persistence/job-history-partitions.js';
import { JobHistoryStore } from '../src/persistence/stores/job-history.store.js';
import { useFleetBench } from './fleet-bench.js';
import { ACCOUNT, ENDPOINT, endedJob, queuedJob, startedJob } from './job-history-samples.js';

// Real servers on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(60_000);

const DAY_MS = 24 * 3_600_000;
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] as const;
const bench = useFleetBench();
let store: JobHistoryStore;
let partitions: JobHistoryPartitions;
let term: { name: string; number: number };
let atMs: number;

beforeEach(async () => {
  const database = new Database(bench.source);
  store = new JobHistoryStore(database);
  partitions = new JobHistoryPartitions(database);
  await partitions.keep({ past: 8, ahead: 1 });
  term = (await bench.leaderLease()).currentTerm();
  await bench.addEndpoint(ENDPOINT);
  atMs = bench.clock.nowMs() - 60_000;
});

const changed = (job: Job, recordSequence: number): HistoryEvent => ({ kind: 'changed', job, recordSequence });
const removed = (id: string, recordSequence: number): HistoryEvent => ({
  kind: 'removed',
  key: { endpointId: ENDPOINT, jobId: id as JobId },
  recordSequence,
});
const project = (events: readonly HistoryEvent[], progress: HistoryProgress | null = null) =>
  store.project(projectEvents(events), progress, term);
const find = (id: string, accountId = ACCOUNT) => store.find({ accountId, endpointId: ENDPOINT, jobId: id as JobId });
const list = (more: Partial<Parameters<JobHistoryStore['list']>[0]> = {}) =>
  store.list({ accountId: ACCOUNT, endpointId: ENDPOINT, statuses: ENDED, before: null, limit: 100, ...more });

describe('a row', () => {
  test('says of an ended job what its record said', async () => {
    const jobs = [
      endedJob('done', atMs),
      endedJob('failed', atMs + 1, {
        state: 'FAILED',
        webhook: 'https://user:secret@hook.example.com:8443/in?key=secret',
      }),
      endedJob('never-taken', atMs + 2, { state: 'CANCELLED', current: null, history: [] }),
    ];
    expect(await project(jobs.map((job, index) => changed(job, index + 1)))).toMatchObject({ written: 3 });
    for (const job of jobs) expect(await find(job.id)).toEqual(describeJob(job, 0));
    expect(await list()).toEqual(jobs.toReversed().map((job) => summarizeJob(job, 0)));
    expect((await find('failed'))?.webhook).toBe('https://hook.example.com:8443');
  });

  test('keeps texts that no database could keep as they came, and long ones in part', async () => {
    const error = `a\0b\uD800c${'x'.repeat(2 * TOLD_TEXT_MAX)}`;
    const [attempt] = endedJob('odd', atMs).history;
    if (attempt === undefined) throw new Error('it has an attempt');
    const history = [{ ...attempt, reason: error, logTail: ['\0', '\uDC00\uD800', '👍'] }];
    await project([changed(endedJob('odd', atMs, { state: 'FAILED', error, history }), 1)]);
    const found = await find('odd');
    expect(found?.error).toMatch(/^a\uFFFDb\uFFFDcx+…$/);
    expect(found?.error).toHaveLength(TOLD_TEXT_MAX);
    expect(found?.attemptList[0]).toMatchObject({ logTail: ['\uFFFD', '\uFFFD\uFFFD', '👍'], reason: found?.error });
  });

  test('is nobody else’s', async () => {
    await project([changed(endedJob('done', atMs), 1)]);
    const stranger = 'stranger' as AccountId;
    expect(await find('done', stranger)).toBeNull();
    expect(await list({ accountId: stranger })).toEqual([]);
    expect(await list({ endpointId: 'e2' as EndpointId })).toEqual([]);
  });

  test('of an endpoint that is gone, foreign or deleted is not made', async () => {
    await bench.addEndpoint('deleted', {}, { deletedAt: new Date(0) });
    const jobs = [
      endedJob('a', atMs, { endpointId: 'nothing' as EndpointId }),
      endedJob('b', atMs, { accountId: 'stranger' as AccountId }),
      endedJob('c', atMs, { endpointId: 'deleted' as EndpointId }),
    ];
    const outcome = await project(jobs.map((job) => changed(job, 1)));
    expect(outcome).toEqual({ written: 0, removed: 0, placeless: 0, ownerless: 3 });
  });

  test('of a job that is older than what is kept is not made', async () => {
    const outcome = await project([changed(endedJob('old', atMs - 20 * DAY_MS), 1)]);
    expect(outcome).toEqual({ written: 0, removed: 0, placeless: 1, ownerless: 0 });
  });

  test('that breaks a rule is refused, and with it all that came along', async () => {
    const bad = endedJob('bad', atMs, { endedAtMs: null });
    await expect(project([changed(endedJob('good', atMs), 1), changed(bad, 1)])).rejects.toBeInstanceOf(
      RefusedRowError,
    );
    expect(await list()).toEqual([]);
  });
});

describe('only newer wins', () => {
  const story = (id: string): readonly HistoryEvent[] => [
    changed(queuedJob(id, atMs), 1),
    changed(startedJob(id, atMs), 2),
    changed(endedJob(id, atMs, { state: 'FAILED' }), 3),
    changed(queuedJob(id, atMs, { attempt: 2, history: endedJob(id, atMs).history }), 4),
    changed(startedJob(id, atMs, { attempt: 2 }), 5),
    changed(endedJob(id, atMs, { attempt: 2 }), 6),
  ];

  test('in whatever order, batches and repetitions the versions come', async () => {
    let stories = 0;
    const steps = fc.array(fc.array(fc.nat({ max: 5 }), { maxLength: 4 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(steps, async (batches) => {
        stories += 1;
        const id = `job-${String(stories)}`;
        const versions = story(id);
        for (const batch of batches) await project(batch.flatMap((index) => versions[index] ?? []));
        const newest = Math.max(-1, ...batches.flat());
        const found = await find(id);
        const event = versions[newest];
        const job = event?.kind === 'changed' ? event.job : null;
        expect(found).toEqual(job !== null && isEnded(job.state) ? describeJob(job, 0) : null);
      }),
      { numRuns: 60 },
    );
  });

  test('a job that is queued again leaves the list, and what vanishes then leaves nothing', async () => {
    const [, , failed, again] = story('job');
    if (failed === undefined || again === undefined) throw new Error('the story has six versions');
    await project([failed]);
    expect(await list()).toHaveLength(1);
    await project([again]);
    expect(await list()).toEqual([]);
    expect(await store.unended(10)).toEqual([{ endpointId: ENDPOINT, jobId: 'job', recordSequence: 4 }]);
    await project([removed('job', 4)]);
    expect(await store.unended(10)).toHaveLength(1);
    expect(await project([removed('job', 5)])).toMatchObject({ removed: 1 });
    expect(await store.unended(10)).toEqual([]);
  });

  test('an ended job stays when its record goes, and one that never ended leaves nothing', async () => {
    await project([changed(endedJob('ended', atMs), 3), removed('ended', 4)]);
    await project([changed(queuedJob('waiting', atMs), 1), removed('waiting', 2)]);
    await project([changed(queuedJob('again', atMs, { attempt: 2 }), 1), removed('again', 2)]);
    expect((await list()).map(({ jobId }) => jobId)).toEqual(['ended']);
    expect(await store.unended(10)).toEqual([]);
  });

  test('and what is missing is known by its version', async () => {
    await project([changed(endedJob('here', atMs), 3)]);
    const version = (jobId: string, recordSequence: number, attempt = 1) => ({
      endpointId: ENDPOINT,
      jobId: jobId as JobId,
      createdAtMs: atMs,
      attempt,
      recordSequence,
    });
    const asked = [
      version('here', 3),
      version('here', 4),
      version('here', 1, 2),
      version('new', 1),
      version('here', 2),
    ];
    expect(new Set(await store.missing(asked))).toEqual(new Set([asked[1], asked[2], asked[3]]));
    expect(await store.missing([])).toEqual([]);
  });
});

describe('the place among the events', () => {
  const progress = { position: { sequence: 7, storedAt: '2026-01-01T00:00:00.123456789Z' }, completeUntilMs: 1_000 };

  test('is kept with the rows', async () => {
    expect(await store.progress()).toBeNull();
    await project([changed(endedJob('done', atMs), 1)], progress);
    expect(await store.progress()).toEqual(progress);
    await project([], { position: null, completeUntilMs: 2_000 });
    expect(await store.progress()).toEqual({ position: null, completeUntilMs: 2_000 });
  });

  test.each([progress, null])('and they are not written when the term is over (%#)', async (kept) => {
    await bench.source.query('UPDATE leader_leases SET term = term + 1');
    expect(await project([changed(endedJob('done', atMs), 1)], kept)).toBeNull();
    expect(await list()).toEqual([]);
    expect(await store.progress()).toBeNull();
  });
});

describe('a list', () => {
  test('goes page by page through all, newest first, with any statuses', async () => {
    const jobs = Array.from({ length: 40 }, (_, index) =>
      endedJob(`job-${String(index % 7)}-${String(index)}`, atMs - Math.floor(index / 4) * (DAY_MS / 3), {
        state: ENDED[index % 3] ?? 'COMPLETED',
      }),
    );
    await project(jobs.map((job) => changed(job, 1)));
    const statusSets: JobState[][] = [
      [...ENDED],
      ['FAILED'],
      ['COMPLETED', 'CANCELLED'],
      ['TIMED_OUT'],
      ['IN_QUEUE'],
      [],
    ];
    for (const statuses of statusSets) {
      const wanted = jobs.filter(({ state }) => statuses.includes(state)).map(({ id }) => id);
      const told: string[] = [];
      for (let before: PageKey | null = null; ;) {
        const page: readonly JobSummary[] = await list({ statuses, before, limit: 3 });
        told.push(...page.map(({ jobId }) => jobId));
        const last = page.at(-1);
        if (last === undefined) break;
        before = last;
      }
      expect(told.toSorted()).toEqual(wanted.toSorted());
    }
    const all = await list();
    const order = all.map(({ createdAtMs, jobId }) => `${String(createdAtMs)} ${jobId}`);
    expect(order).toEqual(order.toSorted().toReversed());
  });
});

describe('partitions', () => {
  const names = async (): Promise<string[]> =>
    (
      await bench.source.query<{ name: string }[]>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'job_history'::regclass ORDER BY 1`,
      )
    ).map(({ name }) => name);

  test('are made for every day, once, also when several make them at once', async () => {
    expect(await names()).toHaveLength(10);
    const kept = await Promise.all(Array.from({ length: 4 }, () => partitions.keep({ past: 10, ahead: 3 })));
    expect(kept.flatMap(({ made }) => made).toSorted()).toHaveLength(4);
    expect(await names()).toHaveLength(14);
    expect(await partitions.keep({ past: 10, ahead: 3 })).toEqual({ made: [], dropped: [] });
  });

  test('are dropped with what is in them once they are too old', async () => {
    await project([changed(endedJob('old', atMs - 8 * DAY_MS), 1), changed(endedJob('new', atMs), 1)]);
    const { dropped, made } = await partitions.keep({ past: 2, ahead: 1 });
    expect([dropped.length, made]).toEqual([6, []]);
    expect((await list()).map(({ jobId }) => jobId)).toEqual(['new']);
  });
});

test('the history of a deleted endpoint is removed in batches, and the endpoint goes after it', async () => {
  await bench.addEndpoint('e2');
  const jobs = Array.from({ length: 7 }, (_, index) => endedJob(`job-${String(index)}`, atMs - index * DAY_MS));
  const foreign = endedJob('foreign', atMs, { endpointId: 'e2' as EndpointId });
  await project([...jobs, foreign].map((job) => changed(job, 1)));
  expect(await store.removeOrphans(5)).toBe(0);
  await bench.source.query(`UPDATE endpoints SET deleted_at = now() WHERE id = $1`, [ENDPOINT]);
  const exists = async (): Promise<boolean> =>
    (await bench.source.query<unknown[]>(`SELECT 1 FROM endpoints WHERE id = $1`, [ENDPOINT])).length > 0;
  await bench.store.forgetEndpoint(ENDPOINT);
  expect(await exists()).toBe(true);
  expect([await store.removeOrphans(5), await store.removeOrphans(5), await store.removeOrphans(5)]).toEqual([5, 2, 0]);
  await bench.store.forgetEndpoint(ENDPOINT);
  expect(await exists()).toBe(false);
  expect(await list({ endpointId: 'e2' as EndpointId })).toHaveLength(1);
});
