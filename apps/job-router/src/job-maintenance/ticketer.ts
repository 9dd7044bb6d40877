import { mendTicket, readJob, type JobStore } from '@berth/jobs';
import type { JobSighting, JobView } from '../job-view/job-view.service.js';
import { TICKET_TRUST_MS, attemptName, jobsToCheck } from './find-ticketless.js';
import type { StoreSurvey } from './maintenance.port.js';
import { mendEach, type MaintenanceObserver } from './mend.js';

export const TICKETER = 'job.ticketer';

export interface TicketerOptions {
  readonly store: JobStore;
  readonly view: JobView;
  readonly survey: StoreSurvey;
  readonly observer: MaintenanceObserver;
}

/** Gives jobs that wait without a ticket a new one: tickets are not synced, and a router may die before it put one. */
export class Ticketer {
  readonly #options: TicketerOptions;
  /** Until when an attempt's ticket is taken to be there; monotonic. */
  #trustedUntilMs = new Map<string, number>();

  constructor(options: TicketerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { view, store, survey, observer } = this.#options;
    const nowMs = store.clock.nowMs();
    this.#trustedUntilMs = new Map([...this.#trustedUntilMs].filter(([, untilMs]) => untilMs > nowMs));
    const suspects = jobsToCheck(view.queued(), this.#trustedUntilMs, nowMs);
    if (suspects.length === 0) return;
    const ticketed = new Set<string>();
    for await (const ticket of survey.tickets()) ticketed.add(attemptName(ticket));
    const missing: JobSighting[] = [];
    for (const job of suspects) {
      if (ticketed.has(attemptName(job))) this.#trustedUntilMs.set(attemptName(job), nowMs + TICKET_TRUST_MS);
      else missing.push(job);
    }
    await mendEach(missing, { loop: TICKETER, observer, signal }, (job) => this.#mend(job));
  }

  async #mend(seen: JobSighting): Promise<void> {
    const { store, view, observer } = this.#options;
    const job = await readJob(store, seen);
    if (job === null) view.remove(seen, store.clock.nowMs());
    if (job?.state !== 'IN_QUEUE' || job.attempt !== seen.attempt) return;
    if (await mendTicket(store, job)) observer.mended('ticket-missing', seen);
  }
}
