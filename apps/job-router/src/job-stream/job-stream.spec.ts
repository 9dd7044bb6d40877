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
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { JobNotices } from '../jobs/job-notices.port.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { JobStream } from './job-stream.service.js';
import { ReaderCursors } from './reader-cursors.js';
import { STREAM_START } from './stream-cursor.js';

const KEY = { endpointId: 'ep' as EndpointId, jobId: 'job' as JobId };
const HELD = { ms: 8_000, signal: new AbortController().signal };
const NOT_HELD = { ...HELD, ms: 0 };

let clock: ManualClock;
let store: JobStore;
let ring: () => void;
let stream: JobStream;
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
  const notices: JobNotices = {
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
  stream = new JobStream(store, new JobReader(store, notices));
  const job = await submitJob(store, KEY.jobId, {
    endpointId: KEY.endpointId,
    accountId: 'account' as AccountId,
    origin: 'run',
    input: encodeJson({}),
    extras: encodeJson({}),
    sealedExtras: null,
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

describe('the places of readers without a cursor', () => {
  test('move forward only, by job and key', () => {
    const cursors = new ReaderCursors();
    cursors.advance(KEY, 'a', { attempt: 1, index: 5 });
    cursors.advance(KEY, 'a', { attempt: 1, index: 3 });
    expect(cursors.read(KEY, 'a')).toEqual({ attempt: 1, index: 5 });
    expect(cursors.read(KEY, 'b')).toEqual(STREAM_START);
    cursors.advance(KEY, 'a', { attempt: 2, index: 1 });
    expect(cursors.read(KEY, 'a')).toEqual({ attempt: 2, index: 1 });
  });
});
