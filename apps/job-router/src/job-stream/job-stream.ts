import { isEnded, type JobKey, type JobSight, type JobState, type RawJson } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { StreamCursor } from '@berth/payloads';
import type { Jobs, JobWatch, StreamChunk } from '../edge/index.js';
import type { JobReader, Wait } from '../jobs/index.js';

/** One answer holds at most so many chunks and, after the first, so much text; the reader comes back for the rest. */
const ANSWER_MAX: BatchMax = { chunks: 256, characters: 4_000_000 };

/** One batch of a stream that is followed lies in memory until its reader has taken it. */
const FOLLOWED_MAX: BatchMax = { chunks: 256, characters: 500_000 };

/** Chunks read at once: each may be a megabyte. */
const PAGE = 8;

/** How often a stream is looked at without any notice. */
const LOOK_MS = 1_000;

/** The same right after a chunk: its notice may have been the end's too. */
const LOOK_AGAIN_MS = 100;

/** Chunks that are still missing this long after the end will not come. */
const MISSING_PATIENCE_MS = 5_000;

interface BatchMax {
  readonly chunks: number;
  readonly characters: number;
}

export interface StreamBatch {
  /** Never a final one before the last chunk has been given. */
  readonly status: JobState;
  readonly error: string | null;
  readonly chunks: readonly RawJson[];
  readonly next: StreamCursor;
  /** There may be more to read at once. */
  readonly hasMore: boolean;
}

export interface Following {
  readonly watch: JobWatch;
  /** Aborts when nobody listens any more. */
  readonly signal: AbortSignal;
  /** True when the listener is to go elsewhere. */
  readonly isOver: () => boolean;
  /** After so much silence a batch without chunks comes. */
  readonly pulseMs: number;
}

export interface JobStreamOptions {
  readonly jobs: Pick<Jobs, 'chunks'>;
  readonly reader: JobReader;
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>;
}

/** Reads what a job streams, from any place, as often as anybody likes. */
export class JobStream {
  readonly #jobs: JobStreamOptions['jobs'];
  readonly #reader: JobReader;
  readonly #clock: JobStreamOptions['clock'];

  constructor({ clock, jobs, reader }: JobStreamOptions) {
    this.#jobs = jobs;
    this.#reader = reader;
    this.#clock = clock;
  }

  /**
   * The chunks after `cursor`. Where there are none, the caller is held until some come, the job has ended, or the
   * wait is over.
   *
   * @throws PlatformError `job-not-found`, `service-unavailable`
   */
  async read(key: JobKey, cursor: StreamCursor, wait: Wait): Promise<StreamBatch> {
    const deadlineMs = this.#clock.monotonicMs() + wait.ms;
    const watch = this.#reader.watch(key);
    try {
      for (;;) {
        const batch = await this.#look(key, cursor, ANSWER_MAX);
        const leftMs = deadlineMs - this.#clock.monotonicMs();
        const hasNews = batch.chunks.length > 0 || isEnded(batch.status);
        if (hasNews || leftMs <= 0 || this.#reader.isOver(wait)) return batch;
        await watch.wait(Math.min(LOOK_MS, leftMs), wait.signal);
      }
    } finally {
      watch.dispose();
    }
  }

  /**
   * Batch after batch as the chunks come, until the job has ended or the following is over. A batch without chunks
   * tells of another attempt, of the end, or that all is quiet.
   *
   * @throws PlatformError `job-not-found`, `service-unavailable`
   */
  async *follow(key: JobKey, cursor: StreamCursor, following: Following): AsyncGenerator<StreamBatch> {
    const clock = this.#clock;
    const { watch, signal, isOver, pulseMs } = following;
    let from = cursor;
    let isRunning = false;
    let toldAtMs = clock.monotonicMs();
    while (!signal.aborted && !isOver()) {
      const batch: StreamBatch =
        (isRunning ? await this.#peek(key, from) : null) ?? (await this.#look(key, from, FOLLOWED_MAX));
      if (isNews(batch, from) || clock.monotonicMs() - toldAtMs >= pulseMs) {
        yield batch;
        toldAtMs = clock.monotonicMs();
      }
      if (isEnded(batch.status)) return;
      from = batch.next;
      isRunning = batch.status === 'IN_PROGRESS';
      if (!batch.hasMore) await watch.wait(batch.chunks.length > 0 ? LOOK_AGAIN_MS : LOOK_MS, signal);
    }
  }

  /** The job first: where it has ended already, every chunk that there will be is found afterwards. */
  async #look(key: JobKey, cursor: StreamCursor, max: BatchMax): Promise<StreamBatch> {
    const job = await this.#reader.read(key);
    const from = { attempt: job.attempt, index: cursor.attempt === job.attempt ? cursor.index : 0 };
    const { chunks, hasMore } = await this.#collect(key, from, max);
    const next = { attempt: job.attempt, index: from.index + chunks.length };
    const isDrained = !hasMore && this.#isWhole(job, next.index);
    return {
      status: isEnded(job.state) && !isDrained ? 'IN_PROGRESS' : job.state,
      error: isDrained ? job.error : null,
      chunks: chunks.map(({ body }) => body),
      next,
      hasMore,
    };
  }

  /**
   * Only the chunks, of an attempt that was running at the last look: they are written while it is the job's own, so
   * the job, which may be a hundred times their size, need not be read for each. Null where there are none.
   */
  async #peek(key: JobKey, from: StreamCursor): Promise<StreamBatch | null> {
    const { chunks, hasMore } = await this.#collect(key, from, FOLLOWED_MAX);
    if (chunks.length === 0) return null;
    const next = { attempt: from.attempt, index: from.index + chunks.length };
    return { status: 'IN_PROGRESS', error: null, chunks: chunks.map(({ body }) => body), next, hasMore };
  }

  /** A replica may be behind for a moment; the job says how many chunks there are. */
  #isWhole(job: JobSight, count: number): boolean {
    if (job.endedAtMs === null || count >= job.chunks) return true;
    return this.#clock.nowMs() - job.endedAtMs > MISSING_PATIENCE_MS;
  }

  async #collect(
    key: JobKey,
    { attempt, index }: StreamCursor,
    max: BatchMax,
  ): Promise<{ readonly chunks: readonly StreamChunk[]; readonly hasMore: boolean }> {
    const chunks: StreamChunk[] = [];
    let characters = 0;
    while (chunks.length < max.chunks && characters < max.characters) {
      const fromIndex = index + chunks.length;
      const query = { ...key, attempt, fromIndex, limit: PAGE };
      const page = await this.#jobs.chunks(query);
      chunks.push(...page);
      characters += page.reduce((sum, { body }) => sum + body.length, 0);
      if (page.length < PAGE) return { chunks, hasMore: false };
    }
    return { chunks, hasMore: true };
  }
}

const isNews = ({ chunks, next, status }: StreamBatch, from: StreamCursor): boolean =>
  chunks.length > 0 || next.attempt !== from.attempt || isEnded(status);
