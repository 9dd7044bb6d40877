import { isEnded, type Job, type JobKey, type JobState, type RawJson } from '@berth/domain';
import type { Chunk, JobStore } from '@berth/jobs';
import type { JobReader } from '../jobs/job-reader.service.js';
import { patiently } from '../patiently.js';
import type { Wait } from '../wait.js';
import type { StreamCursor } from './stream-cursor.js';

/** One answer holds at most so many chunks and, after the first, so much text; the reader comes back for the rest. */
const BATCH_CHUNKS_MAX = 256;
const BATCH_CHARACTERS_MAX = 4_000_000;

/** Chunks read at once: each may be a megabyte. */
const PAGE = 8;

/** How often a stream is looked at without any notice. */
const LOOK_MS = 1_000;

/** Chunks that are still missing this long after the end will not come. */
const MISSING_PATIENCE_MS = 5_000;

export interface StreamBatch {
  /** Never a final one before the last chunk has been given. */
  readonly status: JobState;
  readonly error: string | null;
  readonly chunks: readonly RawJson[];
  readonly next: StreamCursor;
}

/** Reads what a job streams, from any place, as often as anybody likes. */
export class JobStream {
  readonly #store: JobStore;
  readonly #reader: JobReader;

  constructor(store: JobStore, reader: JobReader) {
    this.#store = store;
    this.#reader = reader;
  }

  /**
   * The chunks after `cursor`. Where there are none, the caller is held until some come, the job has ended, or the
   * wait is over.
   *
   * @throws PlatformError `job-not-found`, `service-unavailable`
   */
  async read(key: JobKey, cursor: StreamCursor, wait: Wait): Promise<StreamBatch> {
    const { clock } = this.#store;
    const deadlineMs = clock.monotonicMs() + wait.ms;
    const watch = this.#reader.watch(key);
    try {
      for (;;) {
        const batch = await this.#readOnce(key, cursor);
        const leftMs = deadlineMs - clock.monotonicMs();
        const hasNews = batch.chunks.length > 0 || isEnded(batch.status);
        if (hasNews || leftMs <= 0 || this.#reader.isOver(wait)) return batch;
        await watch.wait(Math.min(LOOK_MS, leftMs), wait.signal);
      }
    } finally {
      watch.dispose();
    }
  }

  /** The record first: where it has ended already, every chunk that there will be is found afterwards. */
  async #readOnce(key: JobKey, cursor: StreamCursor): Promise<StreamBatch> {
    const job = await this.#reader.read(key);
    const from = cursor.attempt === job.attempt ? cursor.index : 0;
    const { chunks, isEnd } = await this.#collect(key, { attempt: job.attempt, index: from });
    const next = { attempt: job.attempt, index: from + chunks.length };
    const isDrained = isEnd && this.#isWhole(job, next.index);
    return {
      status: isEnded(job.state) && !isDrained ? 'IN_PROGRESS' : job.state,
      error: isDrained ? job.error : null,
      chunks: chunks.map(({ body }) => body),
      next,
    };
  }

  /** A replica may be behind for a moment; the record says how many chunks there are. */
  #isWhole(job: Job, count: number): boolean {
    if (job.endedAtMs === null || count >= job.chunks) return true;
    return this.#store.clock.nowMs() - job.endedAtMs > MISSING_PATIENCE_MS;
  }

  async #collect(
    key: JobKey,
    { attempt, index }: StreamCursor,
  ): Promise<{ readonly chunks: readonly Chunk[]; readonly isEnd: boolean }> {
    const chunks: Chunk[] = [];
    let characters = 0;
    while (chunks.length < BATCH_CHUNKS_MAX && characters < BATCH_CHARACTERS_MAX) {
      const fromIndex = index + chunks.length;
      const query = { ...key, attempt, fromIndex, limit: PAGE };
      const page = await patiently(this.#store, () => this.#store.chunks.read(query));
      chunks.push(...page);
      characters += page.reduce((sum, { body }) => sum + body.length, 0);
      if (page.length < PAGE) return { chunks, isEnd: true };
    }
    return { chunks, isEnd: false };
  }
}
