import { historySubject, type HistoryGetReply, type HistoryListReply } from '@berth/contracts';
import type { EndpointId, HistoryRow, JobDetail } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { AgentTransport, logShard } from '@berth/messaging';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { JobHistoryPartitions } from '../src/job-history/job-history-partitions.js';
import { JobHistoryStore } from '../src/job-history/job-history.store.js';
import { endedRow } from './job-history-samples.js';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const api = useManagementApi({ hasRoles: true });
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'];
const COMPLETE_UNTIL_MS = 1_750_000_000_000;
let router: AgentTransport;
let jobs: readonly JobDetail[];
let place: { accountId: string; endpointId: string };

beforeAll(async () => {
  router = new AgentTransport(await api.nats.connectAs('router'));
  const key = await api.newAccount();
  const { id } = (await api.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT })).body;
  const [row] = await api.source.query<{ account_id: string }[]>('SELECT account_id FROM endpoints WHERE id = $1', [
    id,
  ]);
  place = { accountId: row?.account_id ?? '', endpointId: id };
  const atMs = systemClock.nowMs() - 60_000;
  const own = { endpointId: id as EndpointId };
  const rows = Array.from({ length: 5 }, (_, n) => endedRow(`job-${String(n)}`, atMs - n, own));
  jobs = rows.map(({ job }) => job);
  await write(own.endpointId, rows);
});

async function write(endpointId: EndpointId, rows: readonly HistoryRow[]): Promise<void> {
  const database = new Database(api.source);
  await new JobHistoryPartitions(database).keep({ past: 8, ahead: 1 });
  const history = new JobHistoryStore(database, logShard);
  const shard = logShard(endpointId);
  const from = { position: { streamCreated: '2026-01-01', sequence: 0 }, completeUntilMs: null };
  await history.begin(shard, from.position);
  await history.write(rows, { shard, from, to: { ...from, completeUntilMs: COMPLETE_UNTIL_MS } });
}

/** What a list shows of a job. */
const summaryOf = ({ attemptList: _attempts, webhook: _webhook, ...summary }: JobDetail) => summary;

const ask = <Reply>(verb: 'list' | 'get', body: object): Promise<Reply> =>
  router.request(historySubject(verb), body, { timeoutMs: 5_000 }) as Promise<Reply>;

describe('a router that asks for the job history', () => {
  test('is told of an endpoint’s jobs, page by page, and how complete that is', async () => {
    const question = { ...place, statuses: ENDED, before: null, limit: 3 };
    const first = await ask<HistoryListReply>('list', question);
    expect(first).toEqual({
      jobs: jobs.slice(0, 3).map(summaryOf),
      completeUntilMs: COMPLETE_UNTIL_MS,
    });
    const { createdAtMs, jobId } = first.jobs.at(-1) ?? {};
    const second = await ask<HistoryListReply>('list', { ...question, before: { createdAtMs, jobId } });
    expect(second.jobs).toEqual(jobs.slice(3).map(summaryOf));
  });

  test('is told of one job, and of none that is another account’s or unknown', async () => {
    const [job] = jobs;
    if (job === undefined) throw new Error('there are five');
    expect(await ask<HistoryGetReply>('get', { ...place, jobId: job.jobId })).toEqual({
      job,
      completeUntilMs: COMPLETE_UNTIL_MS,
    });
    for (const other of [
      { jobId: 'unknown' },
      { accountId: 'other', jobId: job.jobId },
      { endpointId: 'e', jobId: job.jobId },
    ]) {
      expect(await ask<HistoryGetReply>('get', { ...place, ...other })).toMatchObject({ job: null });
    }
    expect(
      await ask<HistoryListReply>('list', { ...place, accountId: 'other', statuses: ENDED, before: null, limit: 3 }),
    ).toMatchObject({ jobs: [] });
  });

  test.each<['list' | 'get', object]>([
    ['list', {}],
    ['list', { statuses: ['DONE'] }],
    ['list', { limit: 102 }],
    ['list', { before: { createdAtMs: 1e300, jobId: 'a' } }],
    ['list', { before: 'x' }],
    ['list', { endpointId: { $ne: '' } }],
    ['get', { jobId: "a' OR 1=1" }],
    ['get', { accountId: null }],
  ])('is refused what no router asks: %s %j', async (verb, odd) => {
    const good = verb === 'list' ? { ...place, statuses: ENDED, before: null, limit: 3 } : { ...place, jobId: 'j' };
    const body = Object.keys(odd).length === 0 ? odd : { ...good, ...odd };
    await expect(ask(verb, body)).rejects.toMatchObject({ code: 'invalid-fields' });
  });
});
