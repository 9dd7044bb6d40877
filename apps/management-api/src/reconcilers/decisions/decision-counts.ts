import { SCALE_REASONS, SeriesRoom, type EndpointId, type ScaleReason } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { ControllersMetrics } from '../metrics.js';

/** Counts decisions by endpoint and reason. One for all terms of this process. */
export class DecisionCounts {
  readonly #decisions: ControllersMetrics['decisions'];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #room: SeriesRoom;

  constructor(decisions: ControllersMetrics['decisions'], clock: Pick<Clock, 'monotonicMs'>) {
    this.#decisions = decisions;
    this.#clock = clock;
    this.#room = new SeriesRoom({
      onEnter: (endpoint) => {
        for (const reason of SCALE_REASONS) decisions.inc({ endpoint, reason }, 0);
      },
      onLeave: (endpoint) => {
        for (const reason of SCALE_REASONS) decisions.remove({ endpoint, reason });
      },
    });
  }

  note(endpointId: EndpointId, reason: ScaleReason): void {
    const endpoint = this.#room.labelOf(endpointId, this.#clock.monotonicMs());
    this.#decisions.inc({ endpoint, reason });
  }
}
