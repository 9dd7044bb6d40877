import { historySubject, type HistoryGetReply, type HistoryListReply } from '@berth/contracts';
import { describeJob, projectEvents, summarizeJob, type Job } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { AgentTransport } from '@berth/messaging';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { JobHistoryPartitions } from '../src/persistence/job-history-partitions.js';
import { JobHistoryStore } from '../src/persistence/stores/job-history.store.js';
import { endedJob } from './job-history-samples.js';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const api = useManagementApi({ hasRoles: true });
const TERM = { name: 'controllers', number: 1 };
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'];
const COMPLETE_UNTIL_MS = 1_750_000_000_000;
let router: AgentTransport;
let jobs: readonly Job[];
let place: { accountId: string; endpointId: string };

beforeAll(async () => {
  router = new AgentTransport(await api.nats.connectAs('router'));
  const key = await api.newAccount();
  const { id } = (await api.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT })).body;
  const [row] = await api.source.query<{ account_id: string }[]>('SELECT account_id FROM endpoints WHERE id = $1', [
    id,
  ]);
  place = { accountId: row?.account_id ?? '', endpointId: id };
  const own = { accountId: place.accountId, endpointId: id } as Pick<Job, 'accountId' | 'endpointId'>;
  const atMs = systemClock.nowMs() - 60_000;
  jobs = Array.from({ length: 5 }, (_, n) => endedJob(`job-${String(n)}`, atMs - n, own));
  await project(jobs);
}, 60_000);

async function project(ended: readonly Job[]): Promise<void> {
  const database = new Database(api.source);
  await new JobHistoryPartitions(database).keep({ past: 8, ahead: 1 });
  await api.source.query(
    `INSERT INTO leader_leases (name, holder, term, expires_at) VALUES ($1, 'test', $2, now()) ON CONFLICT DO NOTHING`,
    [TERM.name, TERM.number],
  );
  const events = ended.map((job) => ({ kind: 'changed', job, recordSequence: 1 }) as const);
  const progress = { position: null, completeUntilMs: COMPLETE_UNTIL_MS };
  await new JobHistoryStore(database).project(projectEvents(events), progress, TERM);
}

const ask = <Reply>(verb: 'list' | 'get', body: object): Promise<Reply> =>
  router.request<Reply>(historySubject(verb), body, { timeoutMs: 5_000 });

describe('a router that asks for the job history', () => {
  test('is told of an endpoint’s jobs, page by page, and how complete that is', async () => {
    const question = { ...place, statuses: ENDED, before: null, limit: 3 };
    const first = await ask<HistoryListReply>('list', question);
    expect(first).toEqual({
      jobs: jobs.slice(0, 3).map((job) => summarizeJob(job, 0)),
      completeUntilMs: COMPLETE_UNTIL_MS,
    });
    const { createdAtMs, jobId } = first.jobs.at(-1) ?? {};
    const second = await ask<HistoryListReply>('list', { ...question, before: { createdAtMs, jobId } });
    expect(second.jobs).toEqual(jobs.slice(3).map((job) => summarizeJob(job, 0)));
  });

  test('is told of one job, and of none that is another account’s or unknown', async () => {
    const [job] = jobs;
    if (job === undefined) throw new Error('there are five');
    expect(await ask<HistoryGetReply>('get', { ...place, jobId: job.id })).toEqual({
      job: describeJob(job, 0),
      completeUntilMs: COMPLETE_UNTIL_MS,
    });
    for (const other of [
      { jobId: 'unknown' },
      { accountId: 'other', jobId: job.id },
      { endpointId: 'e', jobId: job.id },
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
