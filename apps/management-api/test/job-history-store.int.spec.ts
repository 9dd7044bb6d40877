import {
  TOLD_TEXT_MAX,
  type AccountId,
  type EndpointId,
  type HistoryRow,
  type JobDetail,
  type JobId,
  type JobState,
  type JobSummary,
  type PageKey,
} from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ShardProgress } from '../src/job-history/projected-history.port.js';
import { RefusedRowError } from '../src/job-history/refused-row-error.js';
import { Database } from '../src/persistence/database.js';
import { JobHistoryPartitions } from '../src/job-history/job-history-partitions.js';
import { JobHistoryStore } from '../src/job-history/job-history.store.js';
import { useFleetBench } from './fleet-bench.js';
import { ENDPOINT, endedRow, waitingRow } from './job-history-samples.js';

const DAY_MS = 24 * 3_600_000;
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] as const;
const ACCOUNT = 'account' as AccountId;
const SHARD = 3;
const BEGINNING: ShardProgress = { position: { streamCreated: '2026-01-01', sequence: 0 }, completeUntilMs: null };
const bench = useFleetBench();
let store: JobHistoryStore;
let partitions: JobHistoryPartitions;
/** Where the shard is. */
let place: ShardProgress;
let atMs: number;

beforeEach(async () => {
  const database = new Database(bench.source);
  store = new JobHistoryStore(database, () => SHARD);
  partitions = new JobHistoryPartitions(database);
  await partitions.keep({ past: 8, ahead: 1 });
  await bench.addEndpoint(ENDPOINT);
  place = BEGINNING;
  await store.begin(SHARD, place.position);
  atMs = bench.clock.nowMs() - 60_000;
});

/** One batch further than `from`. */
const behind = ({ completeUntilMs, position }: ShardProgress): ShardProgress => ({
  position: { ...position, sequence: position.sequence + 1 },
  completeUntilMs,
});

async function write(...rows: readonly HistoryRow[]) {
  const to = behind(place);
  const outcome = await store.write(rows, { shard: SHARD, from: place, to });
  place = to;
  return outcome;
}

const find = (id: string, accountId = ACCOUNT) => store.find({ accountId, endpointId: ENDPOINT, jobId: id as JobId });
const list = (more: Partial<Parameters<JobHistoryStore['list']>[0]> = {}) =>
  store.list({ accountId: ACCOUNT, endpointId: ENDPOINT, statuses: ENDED, before: null, limit: 100, ...more });

/** What a list shows of a job. */
const summaryOf = ({ attemptList: _attempts, webhook: _webhook, ...summary }: JobDetail): JobSummary => summary;

describe('a row', () => {
  test('says of an ended job what its owner said', async () => {
    const rows = [
      endedRow('done', atMs),
      endedRow('failed', atMs + 1, {
        state: 'FAILED',
        webhook: 'https://user:secret@hook.example.com:8443/in?key=secret',
      }),
      endedRow('never-taken', atMs + 2, { state: 'CANCELLED', current: null, history: [] }),
    ];
    expect(await write(...rows)).toEqual({ written: 3, placeless: 0, ownerless: 0 });
    for (const { job } of rows) expect(await find(job.jobId)).toEqual(job);
    expect(await list()).toEqual(rows.toReversed().map(({ job }) => summaryOf(job)));
    expect((await find('failed'))?.webhook).toBe('https://hook.example.com:8443');
  });

  test('keeps texts that no database could keep as they came, and long ones in part', async () => {
    const error = `a\0b\uD800c${'x'.repeat(2 * TOLD_TEXT_MAX)}`;
    const [attempt] = endedRow('odd', atMs).job.attemptList;
    if (attempt === undefined) throw new Error('it has an attempt');
    const over = { endedAtMs: atMs, outcome: 'FAILED', reason: error, logTail: ['\0', '\uDC00\uD800', '👍'] } as const;
    await write(endedRow('odd', atMs, { state: 'FAILED', error, history: [{ ...attempt, ...over }] }));
    const found = await find('odd');
    expect(found?.error).toMatch(/^a\uFFFDb\uFFFDcx+…$/);
    expect(found?.error).toHaveLength(TOLD_TEXT_MAX);
    expect(found?.attemptList[0]).toMatchObject({ logTail: ['\uFFFD', '\uFFFD\uFFFD', '👍'], reason: found?.error });
  });

  test('is nobody else’s', async () => {
    await write(endedRow('done', atMs));
    const stranger = 'stranger' as AccountId;
    expect(await find('done', stranger)).toBeNull();
    expect(await list({ accountId: stranger })).toEqual([]);
    expect(await list({ endpointId: 'e2' as EndpointId })).toEqual([]);
  });

  test('of an endpoint that nobody has, or that was deleted, is not made', async () => {
    await bench.addEndpoint('deleted', {}, { deletedAt: new Date(0) });
    const rows = ['nothing', 'deleted'].map((id) => endedRow('job', atMs, { endpointId: id as EndpointId }));
    expect(await write(...rows)).toEqual({ written: 0, placeless: 0, ownerless: 2 });
  });

  test('of a job that is older than what is kept is not made', async () => {
    expect(await write(endedRow('old', atMs - 20 * DAY_MS))).toEqual({ written: 0, placeless: 1, ownerless: 0 });
  });

  test('that breaks a rule is refused, and with it all that came along', async () => {
    const bad = endedRow('bad', atMs, { endedAtMs: null });
    await expect(write(endedRow('good', atMs), bad)).rejects.toBeInstanceOf(RefusedRowError);
    expect(await list()).toEqual([]);
    expect(await store.progress()).toEqual(new Map([[SHARD, BEGINNING]]));
  });
});

describe('a later attempt wins, and of one attempt its end', () => {
  const story = (id: string): readonly HistoryRow[] => [
    endedRow(id, atMs, { state: 'FAILED' }),
    waitingRow(id, atMs, { attempt: 2 }),
    endedRow(id, atMs, { state: 'TIMED_OUT', attempt: 2 }),
    waitingRow(id, atMs, { attempt: 3 }),
    endedRow(id, atMs, { attempt: 3 }),
  ];

  test('in whatever order and however often rows come', async () => {
    let stories = 0;
    const steps = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (order) => {
        stories += 1;
        const id = `job-${String(stories)}`;
        const rows = story(id);
        for (const index of order) await write(...rows.slice(index, index + 1));
        const newest = rows[Math.max(...order)];
        expect(await find(id)).toEqual(newest?.job.endedAtMs === null ? null : newest?.job);
      }),
      { numRuns: 60 },
    );
  });

  test('a job that waits again leaves the list, and its attempts stay for the end that will come', async () => {
    const [failed, again] = story('job');
    if (failed === undefined || again === undefined) throw new Error('the story has several');
    await write(failed);
    expect(await list()).toHaveLength(1);
    await write({ ...again, job: { ...again.job, attemptList: failed.job.attemptList } });
    expect(await list()).toEqual([]);
    expect(await find('job')).toBeNull();
    const { jobId } = again.job;
    const places = [
      { endpointId: ENDPOINT, jobId, createdAtMs: atMs },
      { endpointId: ENDPOINT, jobId, createdAtMs: atMs + 1 },
    ];
    expect(await store.known(places)).toEqual([
      { endpointId: ENDPOINT, attempt: 2, job: { ...again.job, attemptList: failed.job.attemptList } },
    ]);
    expect(await store.known([])).toEqual([]);
  });
});

describe('the place in a shard', () => {
  test('is kept with the rows', async () => {
    expect(await store.begin(SHARD, { streamCreated: '2026-01-02', sequence: 9 })).toBe(false);
    const to = { ...behind(BEGINNING), completeUntilMs: 1_000 };
    await store.write([endedRow('done', atMs)], { shard: SHARD, from: BEGINNING, to });
    expect(await store.progress()).toEqual(new Map([[SHARD, to]]));
    expect(await store.completeUntilMs(ENDPOINT)).toBe(1_000);
  });

  test.each<[string, ShardProgress]>([
    ['that is behind another', behind(BEGINNING)],
    ['of another stream', { ...BEGINNING, position: { streamCreated: '2026-01-02', sequence: 0 } }],
  ])('%s moves nothing, and no row is written', async (_what, from) => {
    const move = { shard: SHARD, from, to: { ...behind(from), completeUntilMs: 1_000 } };
    expect(await store.write([endedRow('done', atMs)], move)).toBeNull();
    expect(await list()).toEqual([]);
    await store.confirm(new Map([[SHARD, { ...from, completeUntilMs: 2_000 }]]));
    expect(await store.progress()).toEqual(new Map([[SHARD, BEGINNING]]));
    expect(await store.completeUntilMs(ENDPOINT)).toBeNull();
  });

  test('is confirmed where it still is', async () => {
    const confirmed = { ...BEGINNING, completeUntilMs: 2_000 };
    await store.confirm(new Map([[SHARD, confirmed]]));
    expect(await store.progress()).toEqual(new Map([[SHARD, confirmed]]));
  });
});

describe('a list', () => {
  test('goes page by page through all, newest first, with any statuses', async () => {
    const rows = Array.from({ length: 40 }, (_, index) =>
      endedRow(`job-${String(index % 7)}-${String(index)}`, atMs - Math.floor(index / 4) * (DAY_MS / 3), {
        state: ENDED[index % 3] ?? 'COMPLETED',
      }),
    );
    await write(...rows);
    const statusSets: JobState[][] = [
      [...ENDED],
      ['FAILED'],
      ['COMPLETED', 'CANCELLED'],
      ['TIMED_OUT'],
      ['IN_QUEUE'],
      [],
    ];
    for (const statuses of statusSets) {
      const wanted = rows.filter(({ job }) => statuses.includes(job.status)).map(({ job }) => job.jobId);
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
    await write(endedRow('old', atMs - 8 * DAY_MS), endedRow('new', atMs));
    const { dropped, made } = await partitions.keep({ past: 2, ahead: 1 });
    expect([dropped.length, made]).toEqual([6, []]);
    expect((await list()).map(({ jobId }) => jobId)).toEqual(['new']);
  });
});

test('the history of a deleted endpoint is removed in batches, and the endpoint goes after it', async () => {
  await bench.addEndpoint('e2');
  const rows = Array.from({ length: 7 }, (_, index) => endedRow(`job-${String(index)}`, atMs - index * DAY_MS));
  const foreign = endedRow('foreign', atMs, { endpointId: 'e2' as EndpointId });
  await write(...rows, foreign);
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
