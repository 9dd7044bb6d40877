import type { JobSight, RawJson, EndpointId, JobId, JobKey } from '@berth/domain';
import { PlatformError } from '@berth/domain';
import { ManualClock, SeededRandom } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { KeptBlobs } from '../../test/fixtures/kept-blobs.js';
import { ScriptedOwners, type AskedOnce } from '../../test/fixtures/scripted-owners.js';
import { OwnedJobs, type OwnedJobsOptions } from './owned-jobs.js';
import { OwnerCommands } from './owner-commands.js';

const key: JobKey = { endpointId: 'ep' as EndpointId, jobId: 'job' as JobId };
const sight = { ...key, state: 'IN_QUEUE' } as JobSight;
const outage = new PlatformError('service-unavailable', 'away');

function openJobs(answer: (asked: AskedOnce) => unknown, more: Partial<OwnedJobsOptions> = {}) {
  const clock = new ManualClock();
  const owners = new ScriptedOwners(answer);
  const jobs = new OwnedJobs({
    owners,
    commands: new OwnerCommands({ owners, clock }),
    submissions: { submit: () => Promise.reject(new Error('nobody submits here')) },
    watches: { watch: () => Promise.reject(new Error('nobody waits here')) as never, watcherOf: () => null },
    blobs: new KeptBlobs(),
    chunks: { read: () => Promise.resolve([]) },
    clock,
    random: new SeededRandom(1),
    ...more,
  });
  return { jobs, clock, asked: owners.asked };
}

const verbsOf = (asked: readonly AskedOnce[]): readonly unknown[] =>
  asked.map(({ verb, question }) => [verb, question]);

describe('a job', () => {
  test('is found by its owner, who is told again of whoever waits for it here', async () => {
    const watcher = { router: 'me', news: 'end' } as const;
    const watches = { watch: () => ({}) as never, watcherOf: () => watcher };
    const { asked, jobs } = openJobs(() => sight, { watches });
    expect(await jobs.find(key)).toBe(sight);
    expect(verbsOf(asked)).toEqual([['find', { jobId: 'job', watcher }]]);
  });

  test.each([
    ['cancel', (jobs: OwnedJobs) => jobs.cancel(key), { kind: 'cancel', jobId: 'job' }],
    ['retry', (jobs: OwnedJobs) => jobs.retry(key), { kind: 'retry', jobId: 'job', retryId: expect.any(String) }],
  ])('is changed by its owner: %s', async (_, change, command) => {
    const { asked, jobs } = openJobs(() => ({ kind: 'job', jobId: 'job', state: 'IN_QUEUE', more: 1 }));
    expect(await change(jobs)).toEqual({ jobId: 'job', state: 'IN_QUEUE' });
    expect(verbsOf(asked)).toEqual([['perform', { command: { ...command, sentAtMs: expect.any(Number) } }]]);
  });

  test('gets another life from its owner', async () => {
    const { asked, jobs } = openJobs(() => ({ kind: 'job', ...sight }));
    await jobs.replaceLife(key, 5_000);
    expect(asked[0]?.question).toMatchObject({ command: { kind: 'replace-life', jobId: 'job', leftMs: 5_000 } });
  });

  test('has its trace told where that is wanted', async () => {
    const { asked, jobs } = openJobs(() => sight);
    await jobs.find(key, { wantsTrace: true });
    expect(verbsOf(asked)).toEqual([['find', { jobId: 'job', watcher: null, wantsTrace: true }]]);
  });

  test('has a new name for each retry', async () => {
    const { asked, jobs } = openJobs(() => ({ kind: 'job', ...sight }));
    await jobs.retry(key);
    await jobs.retry(key);
    const names = asked.map(({ question }) => (question as { command: { retryId: string } }).command.retryId);
    expect(new Set(names).size).toBe(2);
  });

  test('tells its deliveries, or that there is neither', async () => {
    expect(await openJobs(() => []).jobs.deliveries(key)).toEqual([]);
    await expect(openJobs(() => null).jobs.deliveries(key)).rejects.toMatchObject({ code: 'job-not-found' });
  });
});

test('an endpoint’s jobs are listed, counted and described as its owner has them', async () => {
  const { asked, jobs } = openJobs(({ verb }) => ({ verb }));
  const query = { before: null, limit: 3, statuses: new Set(['FAILED', 'IN_QUEUE'] as const), alsoIds: [key.jobId] };
  expect(await jobs.list(key.endpointId, query)).toEqual({ verb: 'list' });
  expect(await jobs.counts(key.endpointId)).toEqual({ verb: 'count' });
  expect(await jobs.describe(key)).toEqual({ verb: 'describe' });
  expect(verbsOf(asked)).toEqual([
    ['list', { before: null, limit: 3, statuses: ['FAILED', 'IN_QUEUE'], alsoIds: ['job'] }],
    ['count', {}],
    ['describe', { jobId: 'job' }],
  ]);
});

test('a purge says how many went, and has a name by which its repetition is known', async () => {
  const { asked, jobs } = openJobs(() => ({ kind: 'purged', removed: 7 }));
  expect(await jobs.purge(key.endpointId)).toBe(7);
  expect(asked[0]?.question).toMatchObject({ command: { kind: 'purge', purgeId: expect.stringMatching(/.{20}/) } });
});

describe('an output', () => {
  const text = '{"a":1}' as RawJson;

  test('is what the owner told, or what lies beside the log', async () => {
    const blobs = new KeptBlobs();
    const manifest = await blobs.write(key, { name: 'out1', bytes: Buffer.from(text) }, 1_000);
    const { jobs } = openJobs(() => null, { blobs });
    expect(await jobs.outputOf({ ...sight, output: { kind: 'inline', json: text } })).toBe(text);
    expect(await jobs.outputOf({ ...sight, output: { kind: 'blob', manifest } })).toBe(text);
    expect(await jobs.outputOf({ ...sight, output: null })).toBeNull();
    await blobs.remove(key, 'out1');
    expect(await jobs.outputOf({ ...sight, output: { kind: 'blob', manifest } })).toBeNull();
  });

  test('is asked for again where the store does not answer, and so are chunks', async () => {
    const outages = [outage, outage];
    const mayFail = <T>(value: T): Promise<T> => {
      const failure = outages.shift();
      return failure === undefined ? Promise.resolve(value) : Promise.reject(failure);
    };
    const manifest = { name: 'out1', parts: 1, sizeBytes: 7, sha256: '' };
    const { clock, jobs } = openJobs(() => null, {
      blobs: { read: () => mayFail(Buffer.from(text)) },
      chunks: { read: () => mayFail([{ attempt: 2, index: 4, body: text }]) },
    });
    const output = jobs.outputOf({ ...sight, output: { kind: 'blob', manifest } });
    await clock.advance(1_000);
    expect(await output).toBe(text);
    outages.push(outage);
    const chunks = jobs.chunks({ ...key, attempt: 2, fromIndex: 4, limit: 10 });
    await clock.advance(1_000);
    expect(await chunks).toEqual([{ index: 4, body: text }]);
  });
});
