import { HISTORY_PAGE_MAX } from '@berth/contracts';
import {
  PlatformError,
  describeJob,
  encodeJson,
  formatPageCursor,
  isEnded,
  isUnreadable,
  mergeSlices,
  summarizeJob,
  type AccountId,
  type EndpointId,
  type Job,
  type JobKey,
  type JobSummary,
  type PageKey,
  type RawJson,
  type Slice,
} from '@berth/domain';
import { readJob, type JobStore } from '@berth/jobs';
import { inParallel } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { jobNotFound } from '../ids.js';
import type { JobFeed } from '../job-view/job-feed.port.js';
import type { JobView } from '../job-view/job-view.service.js';
import { patiently } from '../patiently.js';
import type { QueueReasons } from '../queue-reasons/queue-reasons.service.js';
import type { JobHistory } from './job-history.port.js';
import { liveSlice } from './live-slice.js';
import type { RequestsMetrics } from './metrics.js';
import { requestBody, requestDetailBody } from './request-body.js';
import type { RequestsQuery } from './requests-query.js';

export interface RequestsOptions {
  readonly store: JobStore;
  readonly view: Pick<JobView, 'find' | 'newestFirst'>;
  readonly feed: Pick<JobFeed, 'isWhole'>;
  readonly history: JobHistory;
  readonly reasons: Pick<QueueReasons, 'of'>;
  readonly logger: Logger;
  readonly metrics: RequestsMetrics;
}

/** The endpoint that a caller was let to. */
export interface OwnEndpoint {
  readonly id: EndpointId;
  readonly accountId: AccountId;
}

/** A part of the answer that may lack jobs, and why. */
interface Shortfall {
  readonly source: 'history' | 'live';
  readonly detail: string;
}

interface Past {
  readonly slice: Slice<JobSummary>;
  readonly shortfall: Shortfall | null;
}

const READS_MAX = 16;
/** A record outlives its job's end by at least a minute, so a history that is half of that behind misses nothing. */
const HISTORY_BEHIND_MAX_MS = 30_000;
const NO_PAST: Past = { slice: { entries: [], through: null }, shortfall: null };
const LIVE_SHORTFALL: Shortfall = {
  source: 'live',
  detail: 'This router is catching up with the jobs of the last moments; some may be missing.',
};

/** The jobs of an endpoint: those whose records exist, and those of which the history tells, as one list. */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `service-unavailable` when records cannot be read */
  async list(endpoint: OwnEndpoint, query: RequestsQuery): Promise<RawJson> {
    const { feed, view } = this.#options;
    const live = liveSlice(view, endpoint.id, query);
    const past = await this.#past(endpoint, query);
    const { entries, next } = mergeSlices<PageKey>(live, past.slice, query.limit);
    const pastById = new Map(past.slice.entries.map((job) => [job.jobId, job]));
    const bodies = await inParallel(entries, READS_MAX, ({ jobId }) =>
      this.#item({ endpointId: endpoint.id, jobId }, pastById.get(jobId) ?? null, query),
    );
    const degraded = [past.shortfall, feed.isWhole ? null : LIVE_SHORTFALL].filter((each) => each !== null);
    return encodeJson({
      requests: bodies.filter((body) => body !== null),
      cursor: next === null ? null : formatPageCursor(next),
      ...(degraded.length === 0 ? {} : { degraded }),
    });
  }

  /**
   * @throws PlatformError `job-not-found`; `service-unavailable` also where the record is gone and the history, which may
   *   know the job, cannot say
   */
  async get(endpoint: OwnEndpoint, key: JobKey): Promise<RawJson> {
    const { reasons, store } = this.#options;
    const job = await patiently(store, () => readJob(store, key));
    if (job !== null) return encodeJson(requestDetailBody(describeJob(job, store.clock.nowMs()), reasons.of(job)));
    const { accountId, id: endpointId } = endpoint;
    const past = await this.#ask(() => this.#options.history.get({ accountId, endpointId, jobId: key.jobId }));
    if ('reply' in past && past.reply.job !== null) return encodeJson(requestDetailBody(past.reply.job, null));
    if (past.shortfall === null) throw jobNotFound();
    throw new PlatformError('service-unavailable', `The job has no record any more. ${past.shortfall.detail}`, {
      retryAfterSeconds: 2,
    });
  }

  /** The record where there is one, whatever the history says. Null: the job has gone, or is not of a wanted status. */
  async #item(key: JobKey, past: JobSummary | null, { statuses }: RequestsQuery): Promise<object | null> {
    const { reasons, store, view } = this.#options;
    const job = view.find(key) === undefined ? null : await this.#read(key);
    if (job === null) return past === null ? null : requestBody(past, null);
    return statuses.has(job.state) ? requestBody(summarizeJob(job, store.clock.nowMs()), reasons.of(job)) : null;
  }

  /** Null also for a record that cannot be read: the others of the list can. */
  async #read(key: JobKey): Promise<Job | null> {
    const { store } = this.#options;
    try {
      return await patiently(store, () => readJob(store, key));
    } catch (error) {
      if (isUnreadable(error)) return null;
      throw error;
    }
  }

  async #past({ accountId, id: endpointId }: OwnEndpoint, { before, limit, statuses }: RequestsQuery): Promise<Past> {
    const ended = [...statuses].filter(isEnded);
    if (ended.length === 0) return NO_PAST;
    const wanted = Math.min(HISTORY_PAGE_MAX, limit + 1);
    const past = await this.#ask(() =>
      this.#options.history.list({ accountId, endpointId, statuses: ended, before, limit: wanted }),
    );
    if (!('reply' in past)) return { ...NO_PAST, shortfall: past.shortfall };
    const entries = past.reply.jobs;
    const through = entries.length < wanted ? null : (entries.at(-1) ?? null);
    return { slice: { entries, through }, shortfall: past.shortfall };
  }

  /** A history that is away, or far behind, takes nothing from the jobs whose records exist: it is said. */
  async #ask<Reply extends { readonly completeUntilMs: number | null }>(
    question: () => Promise<Reply>,
  ): Promise<{ readonly reply: Reply; readonly shortfall: Shortfall | null } | { readonly shortfall: Shortfall }> {
    const { logger, metrics, store } = this.#options;
    try {
      const reply = await question();
      const behindMs = store.clock.nowMs() - (reply.completeUntilMs ?? 0);
      const shortfall = behindMs <= HISTORY_BEHIND_MAX_MS ? null : historyShortfall(behindDetail(reply));
      if (shortfall !== null) metrics.degraded.inc({ reason: 'behind' });
      return { reply, shortfall };
    } catch (error) {
      metrics.degraded.inc({ reason: 'unanswered' });
      logger.warn('the job history does not answer', { error });
      return { shortfall: historyShortfall('The history of ended jobs does not answer at the moment.') };
    }
  }
}

const historyShortfall = (detail: string): Shortfall => ({ source: 'history', detail });

const behindDetail = ({ completeUntilMs }: { readonly completeUntilMs: number | null }): string =>
  completeUntilMs === null
    ? 'The history of ended jobs is not complete yet.'
    : `The history of ended jobs is complete up to ${new Date(completeUntilMs).toISOString()} only.`;
