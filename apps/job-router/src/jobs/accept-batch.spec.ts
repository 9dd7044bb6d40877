import { PlatformError, type AccountId, type EndpointId, type JobId, type RawJson } from '@berth/domain';
import { reserve, type JobStore, type Submission } from '@berth/jobs';
import { BrokerModel, ManualClock, SeededRandom, modelStore, openGate } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { acceptBatch } from './accept-batch.js';

const ENDPOINT = 'ep' as EndpointId;

const submissionOf = (item: number): Omit<Submission, 'reservation'> => ({
  endpointId: ENDPOINT,
  accountId: 'account' as AccountId,
  origin: 'run',
  input: `{"n":${item}}` as RawJson,
  extras: '{}' as RawJson,
  sealedExtras: null,
  webhook: null,
  executionTimeoutMs: 60_000,
  ttlMs: 3_600_000,
  retentionMs: 60_000,
  isLowPriority: false,
  traceparent: null,
});

/** @param failureOf what the store says to the record of an input; undefined: it takes it */
function openStore(failureOf: (input: string) => Error | undefined = () => undefined) {
  const clock = new ManualClock();
  const broker = new BrokerModel(() => clock.nowMs());
  const model = modelStore(broker, openGate);
  let creates = 0;
  const create: JobStore['records']['create'] = (job, ttlMs) => {
    creates += 1;
    const failure = failureOf(job.input.kind === 'inline' ? job.input.json : '');
    return failure === undefined ? model.records.create(job, ttlMs) : Promise.reject(failure);
  };
  const store: JobStore = {
    ...model,
    records: { ...model.records, create },
    stopSignals: { send: () => undefined },
    clock,
    random: new SeededRandom(1),
  };
  return { store, broker, creates: () => creates };
}

const reservedOf = (store: JobStore, size: number) =>
  reserve(store, {
    key: { endpointId: ENDPOINT, name: 'key' },
    firstId: store.random.uuid() as JobId,
    size,
    fingerprint: 'f',
    isSame: () => true,
  });

const queued = (store: JobStore): Promise<readonly string[]> =>
  store.tickets
    .list({ endpointId: ENDPOINT, isLowPriority: false, afterSequence: 0, limit: 1_000 })
    .then((tickets) => tickets.map(({ ticket }) => ticket.jobId));

describe.each([false, true])('a list of jobs (named by a key: %s)', (isNamed) => {
  const accept = async (store: JobStore, size: number) =>
    acceptBatch(store, { size, reserved: isNamed ? await reservedOf(store, size) : null, submissionOf });

  test('is accepted in its order, and starts in it', async () => {
    const { store } = openStore();
    const outcomes = await accept(store, 100);
    const ids = outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.id : null));
    expect(new Set(ids).size).toBe(100);
    expect(await queued(store)).toEqual(ids);
  });

  test('one that cannot be stored takes no other with it', async () => {
    const failure = new Error('odd');
    const { store } = openStore((input) => (input === '{"n":3}' ? failure : undefined));
    const outcomes = await accept(store, 40);
    expect(outcomes.flatMap(({ kind }, at) => (kind === 'failed' ? [at] : []))).toEqual([3]);
    expect(outcomes[3]).toEqual({ kind: 'failed', error: failure });
    expect(await queued(store)).toHaveLength(39);
  });

  test('after an outage the rest is not tried, and says so', async () => {
    const outage = new PlatformError('service-unavailable', 'away');
    const { store, creates } = openStore((input) => (input === '{"n":40}' ? outage : undefined));
    const outcomes = await accept(store, 1_000);
    expect(creates()).toBe(64);
    const failed = outcomes.flatMap(({ kind }, at) => (kind === 'failed' ? [at] : []));
    expect(failed).toEqual([40, ...Array.from({ length: 936 }, (_, n) => n + 64)]);
    expect(outcomes.at(-1)).toEqual({ kind: 'failed', error: outage });
  });
});
