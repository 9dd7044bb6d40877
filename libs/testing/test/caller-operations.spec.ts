import {
  encodeJson,
  isGone,
  toRawJson,
  type AccountId,
  type EndpointId,
  type HostId,
  type Job,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import {
  cancel,
  finishAttempt,
  giveUpAttempt,
  purgeQueue,
  readJob,
  replaceJobLife,
  retry,
  settleStopped,
  submitJob,
  takeTicket,
  ticketOf,
  type JobStore,
  type StopSignal,
} from '@berth/jobs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '../src/clock/manual-clock.js';
import { SeededRandom } from '../src/clock/seeded-random.js';
import { BrokerModel } from '../src/simulator/broker-model.js';
import { modelStore, openGate, type Gate } from '../src/simulator/model-store.js';

const EP = 'ep' as EndpointId;
const TAKING = { hostId: 'host' as HostId, workerId: 'worker' as WorkerId };
const TTL_MS = 3_600_000;

let clock: ManualClock;
let broker: BrokerModel;
let store: JobStore;
let stops: StopSignal[];

const storeOver = (gate: Gate, seed = 5): JobStore => ({
  ...modelStore(broker, gate),
  stopSignals: { send: (_, signal) => void stops.push(signal) },
  clock,
  random: new SeededRandom(seed),
});

beforeEach(() => {
  clock = new ManualClock();
  broker = new BrokerModel(() => clock.nowMs());
  stops = [];
  store = storeOver(openGate);
});

const submit = (name: string, more: { input?: string; isLowPriority?: boolean } = {}): Promise<Job> =>
  submitJob(store, name as JobId, {
    endpointId: EP,
    accountId: 'account' as AccountId,
    origin: 'run',
    input: more.input === undefined ? encodeJson({}) : toRawJson(more.input),
    extras: encodeJson({}),
    sealedExtras: null,
    webhook: null,
    executionTimeoutMs: 60_000,
    ttlMs: TTL_MS,
    retentionMs: 60_000,
    isLowPriority: more.isLowPriority ?? false,
    reservation: null,
    traceparent: null,
  });

async function take(job: Job): Promise<Job> {
  const outcome = await takeTicket(store, ticketOf(job), TAKING);
  if (outcome.kind !== 'taken') throw new Error(`the job is ${outcome.kind}`);
  await store.tickets.removeFor(keyOf(job.id), job.attempt, job.lowPriority);
  return outcome.job;
}

const keyOf = (name: string) => ({ endpointId: EP, jobId: name as JobId });
const tokenOf = ({ current }: Job): string => current?.token ?? '';
const recordOf = (name: string): Job | undefined => broker.readRecord(keyOf(name))?.job;

async function fail(name: string, input?: string): Promise<Job> {
  const job = await take(await submit(name, input === undefined ? {} : { input }));
  const manifest = await store.blobs.write(keyOf(name), { name: 'out1', bytes: new Uint8Array(9) }, TTL_MS);
  await store.chunks.append(keyOf(name), { attempt: 1, index: 0, body: encodeJson('old') }, TTL_MS);
  const result = { kind: 'failed', error: 'boom', output: { kind: 'blob', manifest }, chunks: 1 } as const;
  await finishAttempt(store, { ...keyOf(name), token: tokenOf(job) }, result);
  return recordOf(name) as Job;
}

describe('a retry', () => {
  test('drops what the attempt before it left, keeps the input, and puts a ticket', async () => {
    const failed = await fail('a', `{"s":"${'x'.repeat(70_000)}"}`);
    expect((await retry(store, keyOf('a'))).kind).toBe('changed');
    expect(await store.chunks.read({ ...keyOf('a'), attempt: 1, fromIndex: 0, limit: 9 })).toEqual([]);
    expect(await store.blobs.readPart(keyOf('a'), 'out1', 0)).toBeNull();
    expect(await store.blobs.readPart(keyOf('a'), 'in', 0)).not.toBeNull();
    expect(broker.hasTicket({ ...keyOf('a'), attempt: 2 })).toBe(true);
    expect(recordOf('a')).toMatchObject({ attempt: 2, input: failed.input, expiresAtMs: failed.expiresAtMs });
  });

  test('of many at the same time one makes the attempt and all have got it', async () => {
    await fail('a');
    const outcomes = await Promise.all([1, 2, 3, 4].map((seed) => retry(storeOver(openGate, seed), keyOf('a'))));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['changed', 'unchanged', 'unchanged', 'unchanged']);
    expect(recordOf('a')).toMatchObject({ state: 'IN_QUEUE', attempt: 2 });
  });

  test('that lost the race has got what it asked for, however far the attempt is by then', async () => {
    await fail('a');
    let isFirst = true;
    const racing = storeOver({
      ...openGate,
      writeRecord: async (effect) => {
        if (isFirst) {
          isFirst = false;
          await retry(store, keyOf('a'));
          await take(recordOf('a') as Job);
        }
        return effect();
      },
    });
    expect(await retry(racing, keyOf('a'))).toMatchObject({ kind: 'unchanged', job: { state: 'IN_PROGRESS' } });
  });

  test('whose answer was lost is one attempt', async () => {
    await fail('a');
    expect((await retry(storeOver(losingFirstAnswer()), keyOf('a'))).kind).toBe('changed');
    expect(recordOf('a')).toMatchObject({ attempt: 2 });
  });
});

/** The first record write happens, and its answer never comes. */
function losingFirstAnswer(): Gate {
  let isLost = false;
  return {
    ...openGate,
    writeRecord: (effect) => {
      const outcome = effect();
      if (isLost) return Promise.resolve(outcome);
      isLost = true;
      return Promise.resolve({ kind: 'unknown' });
    },
  };
}

describe('a purge', () => {
  test('removes what waits, of both priorities and through its delay, and nothing else', async () => {
    await submit('waits');
    await submit('low', { isLowPriority: true });
    const lost = await take(await submit('delayed'));
    await giveUpAttempt(store, { ...keyOf('delayed'), attempt: 1, token: tokenOf(lost), reason: 'r', isCharged: true });
    await take(await submit('runs'));
    await submit('cancelled');
    await cancel(store, keyOf('cancelled'));
    expect(await purgeQueue(store, EP)).toBe(3);
    for (const name of ['waits', 'low', 'delayed']) expect(await readJob(store, keyOf(name))).toBeNull();
    expect([recordOf('runs')?.state, recordOf('cancelled')?.state]).toEqual(['IN_PROGRESS', 'CANCELLED']);
    expect(await ticketsLeft()).toBe(0);
    expect(await purgeQueue(store, EP)).toBe(0);
  });

  test('leaves the parts of no input behind', async () => {
    await submit('a', { input: `{"s":"${'x'.repeat(70_000)}"}` });
    await purgeQueue(store, EP);
    expect(await store.blobs.readPart(keyOf('a'), 'in', 0)).toBeNull();
  });

  test('counts a job whose removal was not answered, once', async () => {
    await submit('a');
    await submit('b');
    expect(await purgeQueue(storeOver(losingFirstAnswer()), EP)).toBe(2);
  });

  test('two at a time share a deep queue between them', async () => {
    for (let n = 0; n < 700; n += 1) await submit(`job${n}`, { isLowPriority: n % 3 === 0 });
    const removed = await Promise.all([1, 2].map((seed) => purgeQueue(storeOver(openGate, seed), EP)));
    expect(removed.reduce((sum, each) => sum + each, 0)).toBe(700);
    expect(await ticketsLeft()).toBe(0);
  });

  test('leaves what is submitted meanwhile, so that it always ends', async () => {
    await submit('before');
    let arrivals = 0;
    const busy = storeOver({
      ...openGate,
      writeRecord: async (effect) => {
        arrivals += 1;
        await submit(`later${arrivals}`);
        return effect();
      },
    });
    expect(await purgeQueue(busy, EP)).toBe(1);
    expect(await readJob(store, keyOf('later1'))).toMatchObject({ state: 'IN_QUEUE' });
  });

  test('leaves a record that is gone for routers whose clock is behind', async () => {
    await submit('a');
    await purgeQueue(store, EP);
    expect(isGone(recordOf('a') as Job, 1)).toBe(true);
    expect((await takeTicket(store, ticketOf(recordOf('a') as Job), TAKING)).kind).toBe('stale');
  });

  const ticketsLeft = async (): Promise<number> => {
    const lists = [false, true].map((isLowPriority) =>
      store.tickets.list({ endpointId: EP, isLowPriority, afterSequence: 0, limit: 1_000 }),
    );
    return (await Promise.all(lists)).flat().length;
  };
});

describe('a replaced life', () => {
  test('is what the broker keeps the record for', async () => {
    await submit('a');
    await replaceJobLife(store, keyOf('a'), 2 * TTL_MS);
    await clock.advance(2 * TTL_MS - 1);
    expect(await readJob(store, keyOf('a'))).not.toBeNull();
    await clock.advance(1);
    expect(await readJob(store, keyOf('a'))).toBeNull();
    expect(await replaceJobLife(store, keyOf('a'), TTL_MS)).toBeNull();
  });
});

describe('a stop that is settled', () => {
  test('is noted once, by the holder alone, and the record lives no longer for it', async () => {
    const job = await take(await submit('a'));
    const report = { ...keyOf('a'), attempt: 1, token: tokenOf(job) };
    expect(await settleStopped(store, report, clock.nowMs())).toBe('superseded');
    await cancel(store, keyOf('a'));
    await clock.advance(4_000);
    expect(await settleStopped(store, { ...report, token: 'other' }, clock.nowMs())).toBe('superseded');
    const stoppedAtMs = clock.nowMs() - 1_000;
    expect(await settleStopped(store, report, stoppedAtMs)).toBe('recorded');
    expect(await settleStopped(store, report, stoppedAtMs + 500)).toBe('recorded');
    expect(recordOf('a')?.history).toMatchObject([{ outcome: 'CANCELLED', stoppedAtMs }]);
    await clock.advance(56_000);
    expect(broker.readRecord(keyOf('a'))).toBeNull();
  });
});
