import { systemClock } from '@berth/lifecycle';
import type { Job, JobKey, RawJson } from '@berth/domain';
import type { WriteOutcome } from '@berth/jobs';
import { freshKey, eventually, sampleJob, runningJob, useNatsServer } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamJobRecords } from '../src/job-records/jetstream-job-records.js';
import { ADMISSION_FILL_MAX, StorageAdmission } from '../src/job-records/storage-admission.js';
import { JetStreamTickets } from '../src/tickets/jetstream-tickets.js';
import { STREAMS } from '../src/topology/subjects.js';
import { ensure, openBroker } from './open-broker.js';

jest.setTimeout(60_000);

const LIFE_MS = 3_600_000;
const nats = useNatsServer();
let broker: Broker;
let records: JetStreamJobRecords;

beforeAll(async () => {
  broker = await openBroker(nats, { timeoutMs: 1_000 });
  await ensure(broker, 'jobs');
  records = new JetStreamJobRecords(broker);
});
afterAll(() => broker.connection.close());

const backAgain = (): Promise<unknown> =>
  eventually(() => records.read(freshKey()), { deadlineMs: 20_000, intervalMs: 100 });

describe('a write whose answer is lost', () => {
  test('is unknown, may happen later, and is recognised when it has', async () => {
    const key = freshKey();
    process.kill(nats.server.pid, 'SIGSTOP');
    try {
      expect(await records.create(sampleJob(key), LIFE_MS)).toEqual({ kind: 'unknown' });
    } finally {
      process.kill(nats.server.pid, 'SIGCONT');
    }
    const stored = await eventually(async () => {
      const read = await records.read(key);
      expect(read).not.toBeNull();
      return read;
    });
    expect(stored?.job.mutation).toBe('mutation-1');
    expect(await records.create(sampleJob(key), LIFE_MS)).toEqual({ kind: 'conflict' });
  });

  test('a crash of the broker loses nothing that was acknowledged, and calls nothing a conflict', async () => {
    const written = new Map<JobKey, string>();
    const unknown: Job[] = [];
    let isStopping = false;
    const writer = async (): Promise<void> => {
      while (!isStopping) {
        const key = freshKey();
        const outcome = await records.create(sampleJob(key), LIFE_MS);
        expect(outcome.kind).not.toBe('conflict');
        if (outcome.kind === 'unknown') {
          unknown.push(sampleJob(key));
          return;
        }
        const taken = await records.replace(
          runningJob(key),
          outcome.kind === 'written' ? outcome.sequence : 0,
          LIFE_MS,
        );
        expect(taken.kind).not.toBe('conflict');
        if (taken.kind === 'written') written.set(key, 'mutation-2');
        else return;
      }
    };
    const writers = Promise.all(Array.from({ length: 32 }, writer));
    await eventually(() => expect(written.size).toBeGreaterThan(300), { deadlineMs: 20_000 });
    await nats.restart('kill');
    isStopping = true;
    await writers;
    await backAgain();
    for (const [key, mutation] of written) expect((await records.read(key))?.job.mutation).toBe(mutation);
    for (const job of unknown) {
      const again = await records.create(job, LIFE_MS);
      expect(['written', 'conflict']).toContain(again.kind);
      expect((await records.read({ endpointId: job.endpointId, jobId: job.id }))?.job).toEqual(job);
    }
  });
});

describe('a broker that is away', () => {
  test('reads fail as service-unavailable, writes are unknown, and both work again after it is back', async () => {
    await nats.server.kill();
    const key = freshKey();
    await expect(records.read(key)).rejects.toMatchObject({ code: 'service-unavailable', retryAfterSeconds: 1 });
    expect(await records.create(sampleJob(key), LIFE_MS)).toEqual({ kind: 'unknown' });
    const tickets = new JetStreamTickets(broker);
    const ticket = { ...key, attempt: 1, isLowPriority: false, notBeforeMs: 0 };
    await expect(tickets.put(ticket, LIFE_MS)).rejects.toMatchObject({ code: 'service-unavailable' });
    const list = tickets.list({ endpointId: key.endpointId, isLowPriority: false, afterSequence: 5, limit: 10 });
    await expect(list).rejects.toMatchObject({ code: 'service-unavailable' });
    await nats.restart('kill');
    await backAgain();
    expect((await records.create(sampleJob(freshKey()), LIFE_MS)).kind).toBe('written');
  });
});

describe('a broker that is away for a moment', () => {
  test('fails what was on its way at once, and lets what is asked meanwhile wait until it is back', async () => {
    const patient = await openBroker(nats, { timeoutMs: 45_000 });
    process.kill(nats.server.pid, 'SIGSTOP');
    const create = new JetStreamJobRecords(patient).create(sampleJob(freshKey()), LIFE_MS);
    await patient.connection.flush().catch(() => undefined);
    const restarted = nats.restart('kill');
    expect(await create).toEqual({ kind: 'unknown' });
    expect(await new JetStreamJobRecords(patient).read(freshKey())).toBeNull();
    await restarted;
    await patient.connection.close();
    await backAgain();
  });
});

describe('a store that is full', () => {
  test('refuses new jobs early, so that those accepted can still be written', async () => {
    // One job id at many endpoints: all in one stream.
    const { jobId } = freshKey();
    const stream = STREAMS.records(jobId);
    const { state } = await broker.manager.streams.info(stream);
    await broker.manager.streams.update(stream, { max_bytes: state.bytes + 400_000 });
    const errors: unknown[] = [];
    const admission = new StorageAdmission({ broker, clock: systemClock, onError: (error) => errors.push(error) });
    const guarded = new JetStreamJobRecords(broker, admission);
    const input = { kind: 'inline', json: `"${'x'.repeat(30_000)}"` as RawJson } as const;
    const create = async (store: JetStreamJobRecords): Promise<WriteOutcome> => {
      await admission.look();
      return store.create(sampleJob({ ...freshKey(), jobId }, { input }), LIFE_MS);
    };
    const createUntilRefused = async (store: JetStreamJobRecords): Promise<unknown> => {
      for (;;) {
        try {
          expect((await create(store)).kind).toBe('written');
        } catch (error) {
          return error;
        }
      }
    };

    const first = { ...freshKey(), jobId };
    const created = await guarded.create(sampleJob(first, { input }), LIFE_MS);
    expect(await createUntilRefused(guarded)).toMatchObject({
      code: 'service-unavailable',
      message: expect.stringContaining('almost full'),
    });
    expect(admission.fill().get(stream)).toBeGreaterThanOrEqual(ADMISSION_FILL_MAX);

    // The result is larger than the record it replaces, and there is room for it.
    const sequence = created.kind === 'written' ? created.sequence : 0;
    const result = runningJob(first, { input, output: { kind: 'inline', json: '"done"' as RawJson } });
    expect((await guarded.replace(result, sequence, LIFE_MS)).kind).toBe('written');

    // Without the guard the broker itself refuses in the end, in words that a caller may see.
    expect(await createUntilRefused(records)).toMatchObject({
      code: 'service-unavailable',
      message: expect.stringContaining('The store is full'),
      retryAfterSeconds: 10,
    });
    expect(errors).toEqual([]);
  });
});
