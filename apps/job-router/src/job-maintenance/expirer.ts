import { readJob, timeOut, type JobStore } from '@berth/jobs';
import type { JobSighting, JobView } from '../job-view/job-view.service.js';
import { findOverdue } from './find-overdue.js';
import { PASS_MAX, mendEach, type MaintenanceObserver } from './mend.js';

export const EXPIRER = 'job.expirer';

export interface ExpirerOptions {
  readonly store: JobStore;
  readonly view: JobView;
  readonly observer: MaintenanceObserver;
}

/** Ends jobs that outran their deadline unnoticed, and tidies up after those whose time to live ended before they did. */
export class Expirer {
  readonly #options: ExpirerOptions;

  constructor(options: ExpirerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, view, observer } = this.#options;
    const nowMs = store.clock.nowMs();
    view.expire(nowMs);
    const overdue = findOverdue(view.running(), nowMs);
    await mendEach(overdue, { loop: EXPIRER, observer, signal }, (job) => this.#timeOut(job));
    await mendEach(view.takeExpired(PASS_MAX), { loop: EXPIRER, observer, signal }, (job) => this.#tidy(job));
  }

  async #timeOut(seen: JobSighting): Promise<void> {
    const { store, view, observer } = this.#options;
    const outcome = await timeOut(store, seen);
    if (outcome.kind === 'not-found') view.remove(seen, store.clock.nowMs());
    if (outcome.kind === 'changed') observer.mended('deadline-passed', seen);
  }

  /**
   * The broker has removed the record by itself; the host hears of it here, unless its own clock was faster. A record
   * that is still there has got a longer life than this router has heard of.
   */
  async #tidy(job: JobSighting): Promise<void> {
    const { store, observer } = this.#options;
    const { endpointId, jobId, attempt, hostId, token, isLowPriority } = job;
    if ((await readJob(store, job)) !== null) return;
    if (job.state === 'IN_QUEUE') {
      await store.tickets.removeFor({ endpointId, jobId }, attempt, isLowPriority);
      observer.mended('expired-queued', job);
      return;
    }
    if (hostId !== null && token !== null) {
      store.stopSignals.send(hostId, { endpointId, jobId, attempt, token, reason: 'expired' });
    }
    await store.leases.remove({ endpointId, jobId, attempt });
    observer.mended('expired-running', job);
  }
}
