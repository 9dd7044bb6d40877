import type { LogCursor, WorkerLogPage, LogsReply, LogsRequest } from '@berth/contracts';
import { PlatformError } from '@berth/domain';
import { Semaphore, type Clock } from '@berth/lifecycle';
import type { LogShelf } from './log-shelf.js';
import { QuestionPlaces } from './question-places.js';
import type { LogFilter } from './worker-spool.js';

export interface LogAnswersOptions {
  readonly shelf: LogShelf;
  readonly clock: Clock;
}

/** Questions whose lines are read at a time: each may have an answer of the largest size in memory. */
const READS_MAX = 16;

/** Answers what the control plane asks of logs, and holds a question while there is nothing to tell. */
export class LogAnswers {
  readonly #options: LogAnswersOptions;
  readonly #places = new QuestionPlaces();
  readonly #reads = new Semaphore(READS_MAX);
  /** Held questions, by what wakes them. */
  readonly #held = new Map<AbortController, ReadonlySet<string>>();
  #isClosed = false;

  constructor(options: LogAnswersOptions) {
    this.#options = options;
  }

  /** Lines of this worker were added, or it has gone. */
  wake(workerId: string): void {
    for (const [alarm, workerIds] of this.#held) if (workerIds.has(workerId)) alarm.abort();
  }

  /** Held questions are answered at once, with what there is. */
  close(): void {
    this.#isClosed = true;
    for (const alarm of this.#held.keys()) alarm.abort();
  }

  /** @throws PlatformError `rate-limited` when too many are held already, of its account or in all */
  async answer(request: LogsRequest): Promise<LogsReply> {
    const leave = this.#places.take(this.#accountOf(request));
    if (leave === null) {
      throw new PlatformError('rate-limited', 'This host answers as many questions about logs as it can.');
    }
    try {
      return await this.#answer(request);
    } finally {
      leave();
    }
  }

  /** Whose logs are asked for; the endpoint stands for an account that is not known. */
  #accountOf({ cursors, endpointId }: LogsRequest): string {
    for (const { workerId } of cursors) {
      const spool = this.#options.shelf.find(workerId, endpointId);
      if (spool !== null) return spool.owner.accountId;
    }
    return endpointId;
  }

  async #answer({ cursors, maxBytes, waitMs, ...request }: LogsRequest): Promise<LogsReply> {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + waitMs;
    const workerIds = new Set<string>(cursors.map(({ workerId }) => workerId));
    let places = await this.#reads.run(() => Promise.all(cursors.map((cursor) => this.#begin(cursor, request))));
    for (;;) {
      // Before the look: what comes after it wakes.
      const alarm = new AbortController();
      this.#held.set(alarm, workerIds);
      try {
        const pages = await this.#reads.run(() => this.#read(places, { ...request, maxBytes }));
        const leftMs = untilMs - clock.monotonicMs();
        if (pages.some(isNews) || leftMs <= 0 || this.#isClosed) return { pages };
        places = pages.map(({ next, workerId }) => ({ workerId, after: next }));
        await clock.sleep(leftMs, alarm.signal);
      } finally {
        this.#held.delete(alarm);
      }
    }
  }

  async #begin({ after, workerId }: LogCursor, request: Beginning): Promise<Place> {
    if (after !== null) return { workerId, after };
    const { endpointId, ...from } = request;
    const spool = this.#options.shelf.find(workerId, endpointId);
    return { workerId, after: (await spool?.seek(from)) ?? 0 };
  }

  /** What there is room for is shared alike; one line of each is told as long as there is any room. */
  async #read(
    places: readonly Place[],
    { maxBytes, ...request }: Beginning & { maxBytes: number },
  ): Promise<WorkerLogPage[]> {
    const pages: WorkerLogPage[] = [];
    const share = maxBytes / places.length;
    let left = maxBytes;
    for (const place of places) {
      const page = await this.#pageOf(place, request, left > 0 ? share : 0);
      left -= page.lines.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0);
      pages.push(page);
    }
    return pages;
  }

  async #pageOf({ after, workerId }: Place, request: Beginning, bytesMax: number): Promise<WorkerLogPage> {
    const { shelf } = this.#options;
    const { endpointId, jobId, source } = request;
    const isOpen = shelf.isHeld(workerId);
    const spool = shelf.find(workerId, endpointId);
    const empty = { workerId, lines: [], next: after, missing: 0 };
    // One that the agent looks after, and whose spool is still being opened, will have lines.
    if (spool === null) return { ...empty, state: isOpen ? 'open' : 'unknown' };
    if (bytesMax === 0) return { ...empty, state: 'open' };
    const filter: LogFilter = {
      ...(jobId === undefined ? {} : { jobId }),
      ...(source === undefined ? {} : { source }),
    };
    const { lines, missing, next } = await spool.read(after, filter, bytesMax);
    return { workerId, lines, next, missing, state: isOpen || next < spool.last ? 'open' : 'ended' };
  }
}

interface Place extends LogCursor {
  readonly after: number;
}

type Beginning = Omit<LogsRequest, 'cursors' | 'maxBytes' | 'waitMs'>;

const isNews = ({ lines, missing, state }: WorkerLogPage): boolean =>
  lines.length > 0 || missing > 0 || state !== 'open';
