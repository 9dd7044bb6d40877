import { reapAttempt, type JobStore } from '@berth/jobs';
import type { JobSighting, JobView } from '../job-view/job-view.service.js';
import { findLostLeases } from './find-lost-leases.js';
import type { LeaseOutlook } from './maintenance.port.js';
import { mendEach, type MaintenanceObserver } from './mend.js';

export const REAPER = 'job.reaper';

export interface ReaperOptions {
  readonly store: JobStore;
  readonly view: JobView;
  readonly leases: LeaseOutlook;
  readonly observer: MaintenanceObserver;
}

/** Two runs further apart than this: this process stood still, and has not heard what agents said meanwhile. */
const STALL_MS = 5_000;

/**
 * After a standstill, a start or a lost connection the agents get this long to renew, or to bring the results they hold:
 * they renew every 10 s. A result that a worker was told is safe must not lose to a lease that nobody could renew.
 */
export const HEARING_MS = 15_000;

/** Takes attempts from hosts that no longer renew them. The lease itself, read at its leader, has the last word. */
export class Reaper {
  readonly #options: ReaperOptions;
  #missingSinceMs: ReadonlyMap<string, number> = new Map();
  #ranAtMs: number | null = null;
  #hearingUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, view, leases, observer } = this.#options;
    const { lost, missingSinceMs } = findLostLeases(view.running(), this.#missingSinceMs, {
      stateOf: (job) => leases.stateOf(job),
      wholeForMs: store.clock.nowMs() - leases.lastResetAtMs,
      nowMs: store.clock.monotonicMs(),
    });
    this.#missingSinceMs = missingSinceMs;
    if (this.#mustHearFirst()) return;
    await mendEach(lost, { loop: REAPER, observer, signal }, ({ job, why }) => this.#reap(job, why));
  }

  #mustHearFirst(): boolean {
    const { store, leases } = this.#options;
    const nowMs = store.clock.monotonicMs();
    if (this.#ranAtMs !== null && nowMs - this.#ranAtMs > STALL_MS) this.#hearingUntilMs = nowMs + HEARING_MS;
    this.#ranAtMs = nowMs;
    return nowMs < this.#hearingUntilMs || store.clock.nowMs() - leases.lastResetAtMs < HEARING_MS;
  }

  async #reap(seen: JobSighting, why: 'expired' | 'missing'): Promise<void> {
    const { store, view, observer } = this.#options;
    const outcome = await reapAttempt(store, seen, seen.attempt);
    if (outcome === 'held') return;
    if (outcome.kind === 'not-found') view.remove(seen, store.clock.nowMs());
    if (outcome.kind === 'changed') observer.mended(why === 'expired' ? 'lease-expired' : 'lease-missing', seen);
  }
}
