import { mendTicket, readJob, type JobStore } from '@berth/jobs';
import { inParallel } from '@berth/lifecycle';
import type { JobSighting, JobView } from '../job-view/job-view.service.js';
import { attemptName } from './attempt-name.js';
import type { LeaseOutlook, StoreSurvey } from './maintenance.port.js';
import { mendEach, type MaintenanceObserver } from './mend.js';

export const TICKETER = 'job.ticketer';

export interface TicketerOptions {
  readonly store: JobStore;
  readonly view: JobView;
  readonly survey: Pick<StoreSurvey, 'tickets' | 'hasTicket'>;
  readonly leases: Pick<LeaseOutlook, 'lastResetAtMs'>;
  readonly observer: MaintenanceObserver;
}

/** A submit writes the ticket right after the record; one that is still missing after this needs help. */
export const TICKETLESS_GRACE_MS = 5_000;

/** A survey reads every ticket, so it is rare, and the rarer the longer it takes. */
const SURVEY_INTERVAL_MS = 60_000;
const QUIET_PER_SURVEY = 20;
const LOOKS_AT_ONCE = 32;
/** Jobs compared in one go before others get their turn. */
const SLICE = 5_000;

/**
 * Gives jobs that wait without a ticket a new one: tickets are not synced, and a router may die before it put one. Each
 * job is looked at once when it has waited a little, which costs what is new; and all are surveyed now and then, and
 * after every break in what is heard of the broker, which may have been its crash.
 */
export class Ticketer {
  readonly #options: TicketerOptions;
  /** Jobs that wait since before this instant have been looked at. Unix ms. */
  #lookedUntilMs = 0;
  /** When the last survey began, Unix ms, and before when none is made again, monotonic. */
  #surveyedAtMs = 0;
  #nextSurveyMs = Number.NEGATIVE_INFINITY;

  constructor(options: TicketerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, observer } = this.#options;
    const untilMs = store.clock.nowMs() - TICKETLESS_GRACE_MS;
    const missing = this.#isSurveyDue() ? await this.#survey(untilMs, signal) : await this.#lookAtNew(untilMs);
    this.#lookedUntilMs = untilMs;
    const unreadable = await mendEach(missing, { loop: TICKETER, observer, signal }, (job) => this.#mend(job));
    // What could not be mended is found again.
    if (missing.length > unreadable.length) this.#nextSurveyMs = Number.NEGATIVE_INFINITY;
  }

  #isSurveyDue(): boolean {
    const { leases, store } = this.#options;
    return store.clock.monotonicMs() >= this.#nextSurveyMs || leases.lastResetAtMs >= this.#surveyedAtMs;
  }

  async #lookAtNew(untilMs: number): Promise<readonly JobSighting[]> {
    const { survey, view } = this.#options;
    const fresh = [...view.queuedSince(this.#lookedUntilMs)].filter(({ queuedAtMs }) => queuedAtMs < untilMs);
    const isThere = await inParallel(fresh, LOOKS_AT_ONCE, (job) => survey.hasTicket(job));
    return fresh.filter((_, order) => isThere[order] === false);
  }

  async #survey(untilMs: number, signal: AbortSignal): Promise<readonly JobSighting[]> {
    const { store, survey, view } = this.#options;
    const { clock } = store;
    const beganAtMs = clock.monotonicMs();
    this.#surveyedAtMs = clock.nowMs();
    const ticketed = new Set<string>();
    for await (const ticket of survey.tickets()) ticketed.add(attemptName(ticket));
    const missing: JobSighting[] = [];
    let compared = 0;
    for (const job of view.queued()) {
      if (job.queuedAtMs < untilMs && !ticketed.has(attemptName(job))) missing.push(job);
      compared += 1;
      if (compared % SLICE === 0) await clock.sleep(1, signal);
    }
    const tookMs = clock.monotonicMs() - beganAtMs;
    this.#nextSurveyMs = beganAtMs + Math.max(SURVEY_INTERVAL_MS, QUIET_PER_SURVEY * tookMs);
    return missing;
  }

  async #mend(seen: JobSighting): Promise<void> {
    const { store, view, observer } = this.#options;
    const job = await readJob(store, seen);
    if (job === null) view.remove(seen, store.clock.nowMs());
    if (job?.state !== 'IN_QUEUE' || job.attempt !== seen.attempt) return;
    if (await mendTicket(store, job)) observer.mended('ticket-missing', seen);
  }
}
