import { encodeJson, takeJob, type HostId, type Job, type JobKey, type WorkerId } from '@berth/domain';
import { changeJob, recallable, type JobRecords, type RecallableRecords } from '@berth/jobs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '../src/clock/manual-clock.js';
import { SeededRandom } from '../src/clock/seeded-random.js';
import { freshKey, runningJob, sampleJob } from '../src/conformance/sample-job.js';
import { BrokerModel } from '../src/simulator/broker-model.js';

const LIFE_MS = 3_600_000;
const clock = new ManualClock();
let broker: BrokerModel;
let reads: number;

/** A process with its own memory, over the one broker. */
const openProcess = (more: Partial<JobRecords> = {}): RecallableRecords =>
  recallable({
    read: (key) => {
      reads += 1;
      return Promise.resolve(broker.readRecord(key));
    },
    create: (job, ttlMs) => Promise.resolve(broker.createRecord(job, ttlMs)),
    replace: (job, expected, ttlMs) => Promise.resolve(broker.replaceRecord(job, expected, ttlMs)),
    ...more,
  });

const take = (records: RecallableRecords, key: JobKey, attempt = 1): ReturnType<typeof changeJob> =>
  changeJob({ records, clock, random: new SeededRandom(1) }, key, (job, nowMs) =>
    takeJob(job, { hostId: 'h' as HostId, workerId: 'w' as WorkerId, attempt, token: 'token' }, nowMs),
  );

const queuedJob = (key: JobKey): Job =>
  sampleJob(key, { notBeforeMs: 0, expiresAtMs: clock.nowMs() + LIFE_MS, attempt: 1 });

beforeEach(() => {
  broker = new BrokerModel(() => clock.nowMs());
  reads = 0;
});

describe('what a process remembers of the records that it wrote', () => {
  test('is the version that it wrote last', async () => {
    const records = openProcess();
    const key = freshKey();
    expect(records.recall(key)).toBeNull();
    await records.create(sampleJob(key), LIFE_MS);
    expect(records.recall(key)).toEqual(broker.readRecord(key));
    await records.replace(runningJob(key), broker.readRecord(key)?.sequence ?? 0, LIFE_MS);
    expect(records.recall(key)).toEqual(broker.readRecord(key));
  });

  test('is nothing of a job that has ended, or whose last write was lost or unknown', async () => {
    const [ended, conflicting, unknown] = [freshKey(), freshKey(), freshKey()];
    const records = openProcess();
    await records.create(sampleJob(ended, { state: 'COMPLETED' }), LIFE_MS);
    expect(records.recall(ended)).toBeNull();
    await records.create(sampleJob(conflicting), LIFE_MS);
    await records.create(sampleJob(conflicting), LIFE_MS);
    expect(records.recall(conflicting)).toBeNull();
    const silent = openProcess({ replace: () => Promise.resolve({ kind: 'unknown' }) });
    await silent.create(sampleJob(unknown), LIFE_MS);
    await silent.replace(sampleJob(unknown), 1, LIFE_MS);
    expect(silent.recall(unknown)).toBeNull();
  });

  test('is bounded: what was written longest ago is forgotten first', async () => {
    const records = openProcess();
    const input = { kind: 'inline', json: encodeJson('x'.repeat(1_000_000)) } as const;
    const keys = Array.from({ length: 40 }, freshKey);
    for (const key of keys) await records.create(sampleJob(key, { input }), LIFE_MS);
    const known = keys.filter((key) => records.recall(key) !== null);
    expect(known).toEqual(keys.slice(-known.length));
    expect(known.length).toBeGreaterThan(25);
    expect(known.length).toBeLessThan(40);
  });
});

describe('a change of a job', () => {
  test('by the process that wrote it last reads nothing', async () => {
    const records = openProcess();
    const key = freshKey();
    await records.create(queuedJob(key), LIFE_MS);
    expect(await take(records, key)).toMatchObject({ kind: 'changed', job: { state: 'IN_PROGRESS' } });
    expect(reads).toBe(0);
  });

  test('that another process made meanwhile is read and decided anew', async () => {
    const [records, other] = [openProcess(), openProcess()];
    const key = freshKey();
    await records.create(queuedJob(key), LIFE_MS);
    await other.replace({ ...queuedJob(key), attempt: 2 }, broker.readRecord(key)?.sequence ?? 0, LIFE_MS);
    expect(await take(records, key, 2)).toMatchObject({ kind: 'changed', job: { attempt: 2 } });
  });

  test('is refused by what is read, never by what is remembered', async () => {
    const [records, other] = [openProcess(), openProcess()];
    const key = freshKey();
    await records.create({ ...queuedJob(key), attempt: 1 }, LIFE_MS);
    await other.replace({ ...queuedJob(key), attempt: 3 }, broker.readRecord(key)?.sequence ?? 0, LIFE_MS);
    expect(await take(records, key, 3)).toMatchObject({ kind: 'changed' });
    expect(await take(records, key, 2)).toMatchObject({ kind: 'refused' });
    expect(reads).toBeGreaterThan(0);
  });
});
