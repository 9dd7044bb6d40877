import { encodeJson, type EndpointId, type RawJson } from '@berth/domain';
import { purgeAttempt, purgeQueue, type JobStore, type PurgeTarget } from '@berth/jobs';
import { inParallel } from '@berth/lifecycle';
import type { JobView } from '../job-view/job-view.service.js';
import type { JobMetrics } from './metrics.js';

/** Jobs of the view that are looked at in one go. */
const PAGE = 256;
const PARALLEL = 32;

/** Empties queues for callers. */
export class JobPurge {
  readonly #store: JobStore;
  readonly #view: JobView;
  readonly #metrics: JobMetrics;

  constructor(store: JobStore, view: JobView, metrics: JobMetrics) {
    this.#store = store;
    this.#view = view;
    this.#metrics = metrics;
  }

  /**
   * Removes the jobs that wait now; those in progress stay. First by their tickets, which are whole but for what a crash
   * has cost; then by what this router has seen waiting, since a job whose ticket was lost would come back otherwise.
   *
   * @throws PlatformError `service-unavailable`; what was removed by then stays removed, the rest stays queued
   */
  async purge(endpointId: EndpointId): Promise<RawJson> {
    const askedAtMs = this.#store.clock.nowMs();
    const removed = (await purgeQueue(this.#store, endpointId)) + (await this.#purgeSeen(endpointId, askedAtMs));
    this.#metrics.purged.inc(removed);
    return encodeJson({ removed, status: 'completed' });
  }

  async #purgeSeen(endpointId: EndpointId, askedAtMs: number): Promise<number> {
    let removed = 0;
    let page: PurgeTarget[] = [];
    const flush = async (): Promise<void> => {
      const purged = await inParallel(page, PARALLEL, (target) => purgeAttempt(this.#store, target));
      removed += purged.filter(Boolean).length;
      page = [];
    };
    for (const { jobId, attempt, isLowPriority, queuedAtMs } of this.#view.queued(endpointId)) {
      if (queuedAtMs <= askedAtMs) page.push({ endpointId, jobId, attempt, isLowPriority });
      if (page.length === PAGE) await flush();
    }
    await flush();
    return removed;
  }
}
