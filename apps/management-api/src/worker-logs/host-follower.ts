import { LOG_HOLD_MAX_MS, type WorkerLogPage, type LogsReply, type LogsRequest } from '@berth/contracts';
import { PlatformError, describeAbsence, type EndpointId, type HostId, type WorkerId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { TransportError } from '@berth/messaging';
import type { FollowedWorker, LogEvent, LogWish } from './log-event.js';
import { paceOf } from './question-pace.js';

export interface HostFollowerOptions {
  readonly hostId: HostId;
  readonly endpointId: EndpointId;
  readonly wish: LogWish;
  readonly ask: (hostId: HostId, request: LogsRequest, signal: AbortSignal) => Promise<LogsReply>;
  /** Resolves when the reader has taken them. */
  readonly tell: (events: readonly LogEvent[]) => Promise<void>;
  /** What one answer may have. */
  readonly bytesMax: () => number;
  readonly clock: Clock;
}

/** No worker is followed; the next one wakes it. */
const IDLE_MS = 60_000;
const AWAY_RETRY_MS = 2_000;

/** Follows the logs of an endpoint's workers on one host, one question after the other. */
export class HostFollower {
  readonly #options: HostFollowerOptions;
  readonly #workers = new Map<WorkerId, FollowedWorker>();
  #changed = new AbortController();
  #isAway = false;
  #turn = 0;

  constructor(options: HostFollowerOptions) {
    this.#options = options;
  }

  /** One that is followed already is seen anew. */
  add(worker: FollowedWorker): void {
    const known = this.#workers.get(worker.workerId);
    if (known !== undefined) {
      known.isPresent = worker.isPresent;
      return;
    }
    this.#workers.set(worker.workerId, worker);
    this.#changed.abort();
  }

  get workers(): readonly FollowedWorker[] {
    return [...this.#workers.values()];
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#changed = new AbortController();
      const until = AbortSignal.any([signal, this.#changed.signal]);
      const workers = this.workers.filter(({ isEnded }) => !isEnded);
      if (workers.length === 0) await this.#options.clock.sleep(IDLE_MS, until);
      else await this.#ask(workers, signal, until);
    }
  }

  async #ask(workers: readonly FollowedWorker[], signal: AbortSignal, until: AbortSignal): Promise<void> {
    const { ask, clock, hostId, tell } = this.#options;
    const beganAtMs = clock.monotonicMs();
    try {
      const { pages } = await ask(hostId, this.#request(workers), until);
      const news = pages.flatMap((page) => this.#take(page));
      const events = [...this.#back(), ...news];
      if (events.length > 0) await tell(events);
      const isUnknown = pages.some(({ state, workerId }) => state === 'unknown' && this.#isFollowed(workerId));
      const pauseMs = beganAtMs + paceOf({ hasNews: news.length > 0, isUnknown }) - clock.monotonicMs();
      // A worker that comes meanwhile is asked for at once.
      if (pauseMs > 0) await clock.sleep(pauseMs, until);
    } catch (error) {
      if (until.aborted) return;
      if (!(error instanceof TransportError || error instanceof PlatformError)) throw error;
      if (!this.#isAway)
        await tell([{ kind: 'note', workerId: onlyOne(workers), text: describeAway(hostId, workers) }]);
      this.#isAway = true;
      await clock.sleep(AWAY_RETRY_MS, signal);
    }
  }

  #request(workers: readonly FollowedWorker[]): LogsRequest {
    const { bytesMax, endpointId, wish } = this.#options;
    // Room is given in this order, so each has its turn at the head.
    this.#turn += 1;
    const first = this.#turn % workers.length;
    const turn = [...workers.slice(first), ...workers.slice(0, first)];
    return {
      endpointId,
      cursors: turn.map(({ after, workerId }) => ({ workerId, after })),
      ...wish,
      maxBytes: bytesMax(),
      waitMs: LOG_HOLD_MAX_MS,
    };
  }

  #back(): readonly LogEvent[] {
    if (!this.#isAway) return [];
    this.#isAway = false;
    return [{ kind: 'note', workerId: null, text: `host ${this.#options.hostId} answers again` }];
  }

  #take(page: WorkerLogPage): readonly LogEvent[] {
    const { state, workerId } = page;
    const worker = this.#workers.get(workerId);
    if (worker === undefined || worker.isEnded) return [];
    if (state === 'unknown') return takeUnknown(worker);
    const isFirst = worker.after === null;
    worker.after = page.next;
    worker.isEnded = state === 'ended';
    const events = eventsOf(page, isFirst);
    return worker.isEnded || events.length > 1 ? events : [];
  }

  #isFollowed(workerId: WorkerId): boolean {
    return this.#workers.get(workerId)?.isEnded === false;
  }
}

/** Its host has not heard of it yet, or keeps nothing of it any more. */
function takeUnknown(worker: FollowedWorker): readonly LogEvent[] {
  if (worker.isPresent) return [];
  worker.isEnded = true;
  return [{ kind: 'note', workerId: worker.workerId, text: 'nothing of its log is kept any more' }];
}

/** @param isFirst a first look begins where lines are: what is kept no longer was not asked for */
function eventsOf({ lines, missing, next, workerId }: WorkerLogPage, isFirst: boolean): readonly LogEvent[] {
  const gap: LogEvent[] = missing > 0 && !isFirst ? [{ kind: 'note', workerId, text: describeAbsence(missing) }] : [];
  const told: LogEvent[] = lines.map((line) => ({ kind: 'line', workerId, line }));
  return [...gap, ...told, { kind: 'read', workerId, sequence: next }];
}

const onlyOne = (workers: readonly FollowedWorker[]): WorkerId | null =>
  workers.length === 1 ? (workers[0]?.workerId ?? null) : null;

function describeAway(hostId: HostId, workers: readonly FollowedWorker[]): string {
  const what = workers.length === 1 ? `the log of worker ${onlyOne(workers) ?? ''}` : 'what its workers print';
  return `host ${hostId} does not answer, so ${what} cannot be read now; it is asked again`;
}
