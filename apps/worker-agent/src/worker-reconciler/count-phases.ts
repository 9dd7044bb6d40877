import { WORKER_PHASES, type WorkerPhase } from '@berth/domain';
import type { WorkerMetrics } from './metrics.js';

/** A phase that no worker is in has to be said too, or its last figure would stay. */
export function countPhases(metrics: WorkerMetrics, observed: readonly { readonly phase: WorkerPhase }[]): void {
  for (const phase of WORKER_PHASES) {
    metrics.workers.set({ phase }, observed.filter((each) => each.phase === phase).length);
  }
}
