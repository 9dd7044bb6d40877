import { SeriesRoom, type EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { BridgeMetrics } from '../metrics.js';
import { WORKER_STARTS, type FreshWorker } from './fresh-worker.js';

/** Shows how long jobs waited, by their endpoint and by whether a worker was there. One for all workers of this host. */
export class StartWaits {
  readonly #waits: BridgeMetrics['startWaits'];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #room: SeriesRoom;

  constructor(waits: BridgeMetrics['startWaits'], clock: Pick<Clock, 'monotonicMs'>) {
    this.#waits = waits;
    this.#clock = clock;
    this.#room = new SeriesRoom({
      onEnter: (endpoint) => {
        for (const start of WORKER_STARTS) waits.zero({ endpoint, start });
      },
      onLeave: (endpoint) => {
        for (const start of WORKER_STARTS) waits.remove({ endpoint, start });
      },
    });
  }

  /** @param delaysMs of the jobs that came for the worker in one answer */
  note(endpointId: EndpointId, worker: FreshWorker, delaysMs: readonly number[]): void {
    const nowMs = this.#clock.monotonicMs();
    const endpoint = this.#room.labelOf(endpointId, nowMs);
    const starts = worker.startsOf(delaysMs, nowMs);
    for (const [index, start] of starts.entries()) {
      this.#waits.observe({ endpoint, start }, (delaysMs[index] ?? 0) / 1000);
    }
  }
}
