import type { EndpointId } from '../ids.js';
import { SERIES_MAX } from './choose-series.js';
import { OTHER_ENDPOINTS } from './queue-series.js';

/** An endpoint keeps its series for so long after it was last counted, whoever else comes. */
export const SERIES_KEPT_MS = 3_600_000;

export interface SeriesRoomOptions {
  /**
   * Told of an endpoint that gets series of its own: they begin at zero. What it is counted with now is seen together with
   * that; of kinds of events that come later the first one is an increase.
   */
  readonly onEnter: (endpointId: EndpointId) => void;
  /** Told of an endpoint that has series of its own no more: they are to be removed. */
  readonly onLeave: (endpointId: EndpointId) => void;
  readonly max?: number;
}

/**
 * Which endpoints have series of their own where only what is counted says how busy they are: those that were counted last.
 * Where all are taken, one that has been quiet for an hour makes room; until one has, whoever comes is counted with the others.
 */
export class SeriesRoom {
  readonly #options: SeriesRoomOptions;
  /** When each was last counted; the longest quiet one stands first. */
  readonly #countedAtMs = new Map<EndpointId, number>();

  constructor(options: SeriesRoomOptions) {
    this.#options = options;
  }

  /** The label under which the endpoint is counted now. */
  labelOf(endpointId: EndpointId, nowMs: number): string {
    const isMember = this.#countedAtMs.delete(endpointId);
    if (!isMember && !this.#makeRoom(nowMs)) return OTHER_ENDPOINTS;
    this.#countedAtMs.set(endpointId, nowMs);
    if (!isMember) this.#options.onEnter(endpointId);
    return endpointId;
  }

  #makeRoom(nowMs: number): boolean {
    const { max = SERIES_MAX, onLeave } = this.#options;
    if (this.#countedAtMs.size < max) return true;
    const [quietest] = this.#countedAtMs;
    if (quietest === undefined || nowMs - quietest[1] < SERIES_KEPT_MS) return false;
    this.#countedAtMs.delete(quietest[0]);
    onLeave(quietest[0]);
    return true;
  }
}
