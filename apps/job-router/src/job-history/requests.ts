import { HISTORY_PAGE_MAX, type ListedJob } from '@berth/contracts';
import {
  PlatformError,
  encodeJson,
  formatPageCursor,
  isEnded,
  mergeSlices,
  type AccountId,
  type EndpointId,
  type JobKey,
  type JobSummary,
  type RawJson,
  type Slice,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { jobNotFound } from '../platform/index.js';
import type { Jobs } from '../edge/index.js';
import type { QueueReasons } from '../queue-reasons/index.js';
import type { NatsJobHistory } from './nats-job-history.js';
import type { RequestsMetrics } from './metrics.js';
import { requestBody, requestDetailBody } from './request-body.js';
import type { RequestsQuery } from './requests-query.js';

export interface RequestsOptions {
  readonly jobs: Pick<Jobs, 'describe' | 'list'>;
  readonly history: Pick<NatsJobHistory, 'list' | 'get'>;
  readonly reasons: Pick<QueueReasons, 'of'>;
  readonly clock: Pick<Clock, 'nowMs'>;
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
  readonly source: 'history';
  readonly detail: string;
}

interface Past {
  readonly slice: Slice<ListedJob>;
  readonly shortfall: Shortfall | null;
}

/** A job stays for at least a minute after its end, so a history that is half of that behind misses nothing. */
const HISTORY_BEHIND_MAX_MS = 30_000;
const NO_PAST: Past = { slice: { entries: [], through: null }, shortfall: null };

/** The jobs of an endpoint: those that are here, and those of which the history tells, as one list. */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `service-unavailable` when nobody can say which jobs are here */
  async list(endpoint: OwnEndpoint, query: RequestsQuery): Promise<RawJson> {
    const { jobs, reasons } = this.#options;
    const past = await this.#past(endpoint, query);
    const live = await jobs.list(endpoint.id, { ...query, alsoIds: past.slice.entries.map(({ jobId }) => jobId) });
    const { entries, next } = mergeSlices<ListedJob>(live, past.slice, query.limit);
    const requests = entries
      .filter(({ status }) => query.statuses.has(status))
      .map((job) => requestBody(job, reasons.of(endpoint.id, job.queue)));
    return encodeJson({
      requests,
      cursor: next === null ? null : formatPageCursor(next),
      ...(past.shortfall === null ? {} : { degraded: [past.shortfall] }),
    });
  }

  /**
   * @throws PlatformError `job-not-found`; `service-unavailable` also where the job is gone and the history, which may
   *   know it, cannot say
   */
  async get(endpoint: OwnEndpoint, key: JobKey): Promise<RawJson> {
    const { jobs, reasons } = this.#options;
    const { accountId, id: endpointId } = endpoint;
    const job = await jobs.describe(key);
    if (job !== null) return encodeJson(requestDetailBody(job.detail, reasons.of(endpointId, job.queue)));
    const past = await this.#ask(() => this.#options.history.get({ accountId, endpointId, jobId: key.jobId }));
    if ('reply' in past && past.reply.job !== null) return encodeJson(requestDetailBody(past.reply.job, null));
    if (past.shortfall === null) throw jobNotFound();
    throw new PlatformError('service-unavailable', `The job is not among those that live. ${past.shortfall.detail}`, {
      retryAfterSeconds: 2,
    });
  }

  async #past({ accountId, id: endpointId }: OwnEndpoint, { before, limit, statuses }: RequestsQuery): Promise<Past> {
    const ended = [...statuses].filter(isEnded);
    if (ended.length === 0) return NO_PAST;
    const wanted = Math.min(HISTORY_PAGE_MAX, limit + 1);
    const past = await this.#ask(() =>
      this.#options.history.list({ accountId, endpointId, statuses: ended, before, limit: wanted }),
    );
    if (!('reply' in past)) return { ...NO_PAST, shortfall: past.shortfall };
    const entries = past.reply.jobs.map(toListed);
    const through = entries.length < wanted ? null : (entries.at(-1) ?? null);
    return { slice: { entries, through }, shortfall: past.shortfall };
  }

  /** A history that is away, or far behind, takes nothing from the jobs that are here: it is said. */
  async #ask<Reply extends { readonly completeUntilMs: number | null }>(
    question: () => Promise<Reply>,
  ): Promise<{ readonly reply: Reply; readonly shortfall: Shortfall | null } | { readonly shortfall: Shortfall }> {
    const { clock, logger, metrics } = this.#options;
    try {
      const reply = await question();
      const behindMs = clock.nowMs() - (reply.completeUntilMs ?? 0);
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

/** The job history holds only jobs that have ended. */
const toListed = (job: JobSummary): ListedJob => ({ ...job, queue: null });

const historyShortfall = (detail: string): Shortfall => ({ source: 'history', detail });

const behindDetail = ({ completeUntilMs }: { readonly completeUntilMs: number | null }): string =>
  completeUntilMs === null
    ? 'The history of ended jobs is not complete yet.'
    : `The history of ended jobs is complete up to ${new Date(completeUntilMs).toISOString()} only.`;
