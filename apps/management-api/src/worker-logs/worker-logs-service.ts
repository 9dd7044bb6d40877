import type { EndpointLogsQueryDto } from '@berth/contracts/http';
import { LOG_TAIL_DEFAULT } from '@berth/contracts/http';
import { PlatformError, readLogPlace, readSince, type AccountId, type EndpointId, type WorkerId } from '@berth/domain';
import { EVENT_STREAM_HEADERS, PING, encodeRetry, type Caller, type StreamedAnswers } from '@berth/http';
import type { EndpointsService } from '../endpoints/index.js';
import type { AgentLogs } from './agent-logs.js';
import { untilKeyEnds, type KeyWatchOptions } from './key-watch.js';
import type { LogWish } from './log-event.js';
import { LogFollower, type ResumedPlace } from './log-follower.js';
import type { KeptLog, LogPlacesStore } from './log-places.store.js';
import { LogRendering } from './log-rendering.js';

export interface WorkerLogsOptions extends KeyWatchOptions {
  readonly endpoints: Pick<EndpointsService, 'get'>;
  readonly places: Pick<LogPlacesStore, 'ofEndpoint'>;
  readonly agents: Pick<AgentLogs, 'ask'>;
  readonly answers: StreamedAnswers;
}

/** What a reader asks for. */
export interface LogQuestion {
  readonly endpointId: EndpointId;
  /** Null: all of the endpoint's. */
  readonly workerId: WorkerId | null;
  readonly query: EndpointLogsQueryDto;
  readonly lastEventId: string | undefined;
}

type Reply = Parameters<StreamedAnswers['begin']>[0];

/** As published (wire contract 5.4). */
const HEADERS = { ...EVENT_STREAM_HEADERS, 'cache-control': 'no-cache', connection: 'keep-alive' } as const;
const ACCOUNT_STREAMS_MAX = 32;
const STREAMS_MAX = 512;
const RETRY_AFTER_SECONDS = 5;
/** How long a reader should wait before it connects again. */
const RETRY_MS = 1_000;
/** Then the stream ends, and a reader that comes back is admitted anew, by another process where there are several. */
const STREAM_MAX_MS = 3_600_000;

/** Logs of workers, as streams of events (wire contract 5.4). */
export class WorkerLogsService {
  readonly #options: WorkerLogsOptions;
  readonly #closing = new AbortController();
  /** Open streams of each account. */
  readonly #open = new Map<AccountId, number>();
  #openTotal = 0;

  constructor(options: WorkerLogsOptions) {
    this.#options = options;
  }

  /** Streams that are being written. */
  get open(): number {
    return this.#openTotal;
  }

  /**
   * Answers the request; resolves when the stream is over.
   *
   * @throws PlatformError `endpoint-not-found`, `scope-missing`, `worker-not-found`, `invalid-header`, `limit-reached`,
   *   `service-unavailable`, before anything was sent
   */
  async serve(caller: Caller, question: LogQuestion, reply: Reply): Promise<void> {
    const { endpointId, workerId } = question;
    const resumed = resumedPlace(question.lastEventId, workerId === null);
    const places = await this.#placesOf(caller, question);
    // A worker that is not there is that for every key, also for one that does not reach its endpoint.
    if (workerId !== null && places?.length === 0) throw notFound();
    await this.#options.endpoints.get(caller, endpointId);
    if (places === null) throw notFound();
    const release = this.#take(caller.accountId);
    try {
      await this.#stream(caller, { ...question, places, resumed }, reply);
    } finally {
      release();
    }
  }

  /** Ends all streams; their readers come back to another process. */
  stop(): void {
    this.#closing.abort();
  }

  async #stream(caller: Caller, question: BegunQuestion, reply: Reply): Promise<void> {
    const { agents, answers, clock, logger } = this.#options;
    const { endpointId, places, query, resumed, workerId } = question;
    const answer = answers.begin(reply, HEADERS);
    const over = new AbortController();
    const endTimer = clock.after(STREAM_MAX_MS, () => {
      over.abort();
    });
    const follower = new LogFollower({
      ...{ endpointId, workerId, resumed, clock, logger },
      wish: wishOf(query),
      places: () => this.#placesOf(caller, question),
      ask: (hostId, request, signal) => agents.ask(hostId, request, signal),
    });
    const signal = AbortSignal.any([answer.gone, this.#closing.signal, over.signal]);
    const keyEnd = untilKeyEnds(caller, this.#options, signal).then(() => {
      over.abort();
    });
    try {
      await answer.write(encodeRetry(RETRY_MS));
      const rendering = new LogRendering(workerId === null ? (resumed?.workers ?? new Map<string, number>()) : null);
      for await (const events of follower.follow(places, signal)) {
        const nowMs = clock.nowMs();
        const text = events?.map((event) => rendering.render(event, nowMs)).join('') ?? PING;
        if (text !== '') await answer.write(text);
      }
    } catch (error) {
      // Texts that wait for their readers leave no room: this one comes back for what it has not got.
      if (!(error instanceof PlatformError)) throw error;
    } finally {
      endTimer();
      over.abort();
      await keyEnd;
      answer.end();
    }
  }

  #placesOf({ accountId }: Caller, question: LogQuestion): Promise<readonly KeptLog[] | null> {
    return this.#options.places.ofEndpoint(accountId, question.endpointId, question.workerId);
  }

  /** @throws PlatformError when too many are read already */
  #take(accountId: AccountId): () => void {
    const open = this.#open.get(accountId) ?? 0;
    const retry = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if (open >= ACCOUNT_STREAMS_MAX) {
      const words = `The account reads ${ACCOUNT_STREAMS_MAX} logs already, as many as it may at a time.`;
      throw new PlatformError('limit-reached', words, retry);
    }
    if (this.#openTotal >= STREAMS_MAX || this.#closing.signal.aborted) {
      throw new PlatformError('service-unavailable', 'This process serves as many logs as it can.', retry);
    }
    this.#open.set(accountId, open + 1);
    this.#openTotal += 1;
    return () => {
      const left = (this.#open.get(accountId) ?? 1) - 1;
      if (left === 0) this.#open.delete(accountId);
      else this.#open.set(accountId, left);
      this.#openTotal -= 1;
    };
  }
}

interface BegunQuestion extends LogQuestion {
  readonly places: readonly KeptLog[];
  readonly resumed: ResumedPlace | null;
}

const notFound = (): PlatformError =>
  new PlatformError('worker-not-found', 'The endpoint has no such worker, and had none lately.');

/** @throws PlatformError `invalid-header` */
function resumedPlace(lastEventId: string | undefined, isOfSeveral: boolean): ResumedPlace | null {
  if (lastEventId === undefined || lastEventId === '') return null;
  const place = readLogPlace(lastEventId);
  const atMs = readSince(lastEventId.slice(0, lastEventId.indexOf('/')));
  if (place === null || atMs === null || (place.workers !== null) !== isOfSeveral) {
    throw new PlatformError('invalid-header', 'Last-Event-ID is not the id of an event of this path.');
  }
  return { ...place, atMs };
}

function wishOf({ jobId, since, source, tail }: EndpointLogsQueryDto): LogWish {
  const sinceMs = since === undefined ? null : readSince(since);
  const last = tail ?? (sinceMs === null ? LOG_TAIL_DEFAULT : undefined);
  return {
    ...(source === undefined ? {} : { source }),
    ...(jobId === undefined ? {} : { jobId }),
    ...(sinceMs === null ? {} : { sinceMs }),
    ...(last === undefined ? {} : { tail: last }),
  };
}
