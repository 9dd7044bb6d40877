import type { JobId } from '@berth/domain';
import { NO_TRACES } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { KEY, ScriptedJobs } from '../../test/model/scripted-jobs.js';
import { HeldCalls, JobReader } from '../jobs/index.js';
import { JobStream, type StreamBatch } from './job-stream.js';
import { STREAM_START } from './stream-cursor.js';

const HELD = { ms: 8_000, signal: new AbortController().signal };
const NOT_HELD = { ...HELD, ms: 0 };

let clock: ManualClock;
let jobs: ScriptedJobs;
let stream: JobStream;

beforeEach(() => {
  clock = new ManualClock();
  jobs = new ScriptedJobs(clock);
  jobs.show({ state: 'IN_PROGRESS' });
  const reader = new JobReader({
    jobs,
    held: new HeldCalls({ endpointOf: () => null }),
    reasons: { ofSight: () => null },
    traces: NO_TRACES,
    clock,
  });
  stream = new JobStream({ jobs, reader, clock });
});

const append = (index: number, attempt = 1): void => {
  jobs.stream({ output: index }, attempt);
};

const finish = (chunks: number): void => {
  jobs.show({ state: 'COMPLETED', endedAtMs: clock.nowMs(), chunks });
};

/** The attempt is lost and the next one waits. */
const giveUp = (): void => {
  jobs.show({ state: 'IN_QUEUE', attempt: 2 });
};

const take = (): void => {
  jobs.show({ state: 'IN_PROGRESS' });
};

const outputs = (chunks: readonly string[]): readonly number[] =>
  chunks.map((body) => (JSON.parse(body) as { output: number }).output);

describe('reading a stream', () => {
  test('goes on where the cursor stands', async () => {
    append(0);
    append(1);
    const first = await stream.read(KEY, STREAM_START, NOT_HELD);
    append(2);
    const second = await stream.read(KEY, first.next, NOT_HELD);

    expect([outputs(first.chunks), outputs(second.chunks)]).toEqual([[0, 1], [2]]);
    expect([first.status, second.status]).toEqual(['IN_PROGRESS', 'IN_PROGRESS']);
  });

  test('is final only with the last chunk, however many answers it takes', async () => {
    for (let index = 0; index < 600; index += 1) append(index);
    finish(600);
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
    append(0);
    finish(2);
    expect(await stream.read(KEY, STREAM_START, NOT_HELD)).toMatchObject({ status: 'IN_PROGRESS', next: { index: 1 } });
    await clock.advance(5_001);
    expect(await stream.read(KEY, STREAM_START, NOT_HELD)).toMatchObject({ status: 'COMPLETED' });
  });

  test('holds the caller until something comes', async () => {
    const reading = stream.read(KEY, STREAM_START, HELD);
    await letRun();
    append(0);
    jobs.ring();
    expect(outputs((await reading).chunks)).toEqual([0]);
  });

  test('looks by itself where no notice comes', async () => {
    const reading = stream.read(KEY, STREAM_START, HELD);
    await letRun();
    append(0);
    await clock.advance(1_000);
    expect(outputs((await reading).chunks)).toEqual([0]);
  });

  test('ends the hold when the wait is over, or the job has ended', async () => {
    const empty = stream.read(KEY, STREAM_START, HELD);
    await clock.advance(8_000);
    expect(await empty).toMatchObject({ status: 'IN_PROGRESS', chunks: [] });
    const ended = stream.read(KEY, STREAM_START, HELD);
    await letRun();
    await jobs.cancel(KEY);
    jobs.ring();
    expect(await ended).toMatchObject({ status: 'CANCELLED', chunks: [] });
  });

  test('begins again with another attempt, whatever the cursor said of the former', async () => {
    append(0);
    const first = await stream.read(KEY, STREAM_START, NOT_HELD);
    giveUp();
    expect(await stream.read(KEY, first.next, NOT_HELD)).toMatchObject({ status: 'IN_QUEUE', chunks: [] });
    take();
    append(0, 2);

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
    const watch = jobs.watch();
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
      append(index);
      jobs.ring();
      await letRun();
      expect(outputs(told.flatMap(({ chunks }) => chunks)).at(-1)).toBe(index);
    }
    finish(3);
    jobs.ring();
    await clock.advance(100);
    await done;
    expect(told.at(-1)).toMatchObject({ status: 'COMPLETED', chunks: [], next: { attempt: 1, index: 3 } });
  });

  test('looks at the job once, not for each chunk, while chunks keep coming', async () => {
    const { done } = followFrom();
    await letRun();
    const { finds } = jobs;
    for (let index = 0; index < 50; index += 1) {
      append(index);
      jobs.ring();
      await letRun();
    }
    expect(jobs.finds).toBe(finds);
    gone.abort();
    await done;
  });

  test('begins anew with another attempt and says so by a batch of its own', async () => {
    const { told, done } = followFrom();
    await letRun();
    append(0);
    jobs.ring();
    await letRun();
    giveUp();
    jobs.ring();
    await clock.advance(1_000);
    expect(told.at(-1)).toMatchObject({ status: 'IN_QUEUE', chunks: [], next: { attempt: 2, index: 0 } });
    take();
    append(0, 2);
    jobs.ring();
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
    jobs.ring();
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
