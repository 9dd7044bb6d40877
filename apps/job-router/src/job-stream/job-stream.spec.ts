import {
  encodeJson,
  toRawJson,
  type AccountId,
  type EndpointId,
  type HostId,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { cancel, finishAttempt, giveUpAttempt, submitJob, takeTicket, ticketOf, type JobStore } from '@berth/jobs';
import { BrokerModel, ManualClock, SeededRandom, letRun, modelStore, openGate } from '@berth/testing';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { JobNotices } from '../jobs/job-notices.port.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { JobStream, type StreamBatch } from './job-stream.service.js';
import { STREAM_START } from './stream-cursor.js';

const KEY = { endpointId: 'ep' as EndpointId, jobId: 'job' as JobId };
const HELD = { ms: 8_000, signal: new AbortController().signal };
const NOT_HELD = { ...HELD, ms: 0 };

let clock: ManualClock;
let store: JobStore;
let ring: () => void;
let stream: JobStream;
let notices: JobNotices;
let token: string;

beforeEach(async () => {
  clock = new ManualClock();
  const broker = new BrokerModel(() => clock.nowMs());
  store = {
    ...modelStore(broker, openGate),
    stopSignals: { send: () => undefined },
    clock,
    random: new SeededRandom(3),
  };
  ring = () => undefined;
  notices = {
    watch: () => {
      let wake = new AbortController();
      ring = () => {
        wake.abort();
      };
      return {
        wait: async (ms, signal) => {
          wake = new AbortController();
          await clock.sleep(ms, AbortSignal.any([wake.signal, ...(signal === undefined ? [] : [signal])]));
          return wake.signal.aborted;
        },
        dispose: () => undefined,
      };
    },
    ring: () => undefined,
  };
  stream = new JobStream(store, new JobReader(store, notices, { of: () => null }));
  const job = await submitJob(store, KEY.jobId, {
    endpointId: KEY.endpointId,
    accountId: 'account' as AccountId,
    origin: 'run',
    input: encodeJson({}),
    extras: encodeJson({}),
    sealedExtras: null,
    reservation: null,
    webhook: null,
    executionTimeoutMs: 60_000,
    ttlMs: 3_600_000,
    retentionMs: 1_800_000,
    isLowPriority: false,
    traceparent: null,
  });
  token = await take(job.attempt);
});

const take = async (attempt: number): Promise<string> => {
  const stored = await store.records.read(KEY);
  if (stored === null) throw new Error('no job');
  const outcome = await takeTicket(
    store,
    { ...ticketOf(stored.job), attempt },
    { hostId: 'h' as HostId, workerId: 'w' as WorkerId },
  );
  return outcome.kind === 'taken' ? (outcome.job.current?.token ?? '') : '';
};

const append = (index: number, attempt = 1): Promise<void> =>
  store.chunks.append(KEY, { attempt, index, body: toRawJson(`{"output":${index}}`) }, 60_000);

const finish = (chunks: number): Promise<unknown> =>
  finishAttempt(store, { ...KEY, token }, { kind: 'completed', output: null, chunks });

const outputs = (chunks: readonly string[]): readonly number[] =>
  chunks.map((body) => (JSON.parse(body) as { output: number }).output);

describe('reading a stream', () => {
  test('goes on where the cursor stands', async () => {
    await append(0);
    await append(1);
    const first = await stream.read(KEY, STREAM_START, NOT_HELD);
    await append(2);
    const second = await stream.read(KEY, first.next, NOT_HELD);

    expect([outputs(first.chunks), outputs(second.chunks)]).toEqual([[0, 1], [2]]);
    expect([first.status, second.status]).toEqual(['IN_PROGRESS', 'IN_PROGRESS']);
  });

  test('is final only with the last chunk, however many answers it takes', async () => {
    for (let index = 0; index < 600; index += 1) await append(index);
    await finish(600);
    const seen: number[] = [];
    const statuses: string[] = [];
    let cursor = STREAM_START;
    for (let round = 0; round < 4; round += 1) {
      const batch = await stream.read(KEY, cursor, NOT_HELD);
      seen.push(...outputs(batch.chunks));
      statuses.push(batch.status);
      cursor = batch.next;
    }
    expect(seen).toEqual(Array.from({ length: 600 }, (_, n) => n));
    expect(statuses).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED', 'COMPLETED']);
  });

  test('waits for chunks that a replica does not show yet, but not for ever', async () => {
    await append(0);
    await finish(2);
    expect(await stream.read(KEY, STREAM_START, NOT_HELD)).toMatchObject({ status: 'IN_PROGRESS', next: { index: 1 } });
    await clock.advance(5_001);
    expect(await stream.read(KEY, STREAM_START, NOT_HELD)).toMatchObject({ status: 'COMPLETED' });
  });

  test('holds the caller until something comes', async () => {
    const reading = stream.read(KEY, STREAM_START, HELD);
    await letRun();
    await append(0);
    ring();
    expect(outputs((await reading).chunks)).toEqual([0]);
  });

  test('looks by itself where no notice comes', async () => {
    const reading = stream.read(KEY, STREAM_START, HELD);
    await letRun();
    await append(0);
    await clock.advance(1_000);
    expect(outputs((await reading).chunks)).toEqual([0]);
  });

  test('ends the hold when the wait is over, or the job has ended', async () => {
    const empty = stream.read(KEY, STREAM_START, HELD);
    await clock.advance(8_000);
    expect(await empty).toMatchObject({ status: 'IN_PROGRESS', chunks: [] });
    const ended = stream.read(KEY, STREAM_START, HELD);
    await letRun();
    await cancel(store, KEY);
    ring();
    expect(await ended).toMatchObject({ status: 'CANCELLED', chunks: [] });
  });

  test('begins again with another attempt, whatever the cursor said of the former', async () => {
    await append(0);
    const first = await stream.read(KEY, STREAM_START, NOT_HELD);
    await giveUpAttempt(store, { ...KEY, attempt: 1, token, reason: 'drained', isCharged: false });
    expect(await stream.read(KEY, first.next, NOT_HELD)).toMatchObject({ status: 'IN_QUEUE', chunks: [] });
    token = await take(2);
    await append(0, 2);

    expect(outputs((await stream.read(KEY, first.next, NOT_HELD)).chunks)).toEqual([0]);
  });

  test('of a job that is not there is refused', async () => {
    const unknown = { ...KEY, jobId: 'other' as JobId };
    await expect(stream.read(unknown, STREAM_START, HELD)).rejects.toMatchObject({ code: 'job-not-found' });
  });
});

describe('following a stream', () => {
  const PULSE_MS = 15_000;
  let gone: AbortController;
  let isOver: boolean;

  beforeEach(() => {
    gone = new AbortController();
    isOver = false;
  });

  /** What a follower was told so far, until it is over. */
  const followFrom = (cursor = STREAM_START): { readonly told: StreamBatch[]; readonly done: Promise<void> } => {
    const told: StreamBatch[] = [];
    const watch = notices.watch(KEY);
    const following = { watch, signal: gone.signal, isOver: () => isOver, pulseMs: PULSE_MS };
    const done = (async () => {
      for await (const batch of stream.follow(KEY, cursor, following)) told.push(batch);
    })();
    return { told, done };
  };

  test('tells each chunk as it comes, before the next is there, and the end after the last', async () => {
    const { told, done } = followFrom();
    for (const index of [0, 1, 2]) {
      await letRun();
      await append(index);
      ring();
      await letRun();
      expect(outputs(told.flatMap(({ chunks }) => chunks)).at(-1)).toBe(index);
    }
    await finish(3);
    ring();
    await clock.advance(100);
    await done;
    expect(told.at(-1)).toMatchObject({ status: 'COMPLETED', chunks: [], next: { attempt: 1, index: 3 } });
  });

  test('reads the record once, not for each chunk, while chunks keep coming', async () => {
    const { done } = followFrom();
    await letRun();
    let reads = 0;
    const { read } = store.records;
    jest.spyOn(store.records, 'read').mockImplementation((key) => {
      reads += 1;
      return read(key);
    });
    for (let index = 0; index < 50; index += 1) {
      await append(index);
      ring();
      await letRun();
    }
    expect(reads).toBe(0);
    gone.abort();
    await done;
  });

  test('begins anew with another attempt and says so by a batch of its own', async () => {
    const { told, done } = followFrom();
    await letRun();
    await append(0);
    ring();
    await letRun();
    await giveUpAttempt(store, { ...KEY, attempt: 1, token, reason: 'drained', isCharged: false });
    ring();
    await clock.advance(1_000);
    expect(told.at(-1)).toMatchObject({ status: 'IN_QUEUE', chunks: [], next: { attempt: 2, index: 0 } });
    token = await take(2);
    await append(0, 2);
    ring();
    await clock.advance(1_000);
    expect(told.at(-1)).toMatchObject({ status: 'IN_PROGRESS', next: { attempt: 2, index: 1 } });
    gone.abort();
    await done;
  });

  test('a silent stream has a pulse', async () => {
    const { told, done } = followFrom({ attempt: 1, index: 0 });
    await clock.advance(3 * PULSE_MS + 500);
    expect(told.map(({ chunks }) => chunks.length)).toEqual([0, 0, 0]);
    gone.abort();
    await done;
  });

  test('ends at once when its listener goes, and without a final status when it is to go elsewhere', async () => {
    const first = followFrom();
    await letRun();
    gone.abort();
    await first.done;
    gone = new AbortController();
    const second = followFrom();
    await letRun();
    isOver = true;
    ring();
    await second.done;
    expect(second.told.map(({ status }) => status)).toEqual(['IN_PROGRESS']);
  });

  test('of a job that goes meanwhile is an error', async () => {
    const { done } = followFrom();
    const ended = expect(done).rejects.toMatchObject({ code: 'job-not-found' });
    await clock.advance(3_600_001);
    await ended;
  });
});
