import type { WitnessMessage } from '@berth/contracts';
import { demandOfHeld, type Demand, type EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Places } from './places.js';

export interface HeldDemandOptions {
  readonly places: Pick<Places, 'endpointIds' | 'heldOf' | 'onChange'>;
  readonly clock: Clock;
  readonly routerId: string;
  /** Sends it to the controllers, in order. A lost message is told again soon. */
  readonly publish: (message: WitnessMessage) => void;
}

/** How often everything is told, changed or not: as often as owners of logs do. */
const WHOLE_INTERVAL_MS = 2_000;
/** Changes within this time after a message go out together. */
const DEBOUNCE_MS = 50;
/** Endpoints in one message, each with the workers that it may name: it must stay below the broker's message limit. */
const ENDPOINTS_PER_MESSAGE = 500;

/**
 * Tells the controllers of the requests that wait at this router for a worker, until an agent counts them: a change almost
 * at once, since a worker may have to be woken, and everything on a timer.
 */
export class HeldDemand {
  readonly #options: HeldDemandOptions;
  /** Rises with every start: nothing else of this process is kept. */
  readonly #term: number;
  readonly #changed = new Set<EndpointId>();
  /** What was said last of each endpoint, where it was not none. */
  readonly #told = new Map<EndpointId, string>();
  #sequence = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #stopWhole: (() => void) | undefined;
  #disarm: (() => void) | undefined;

  constructor(options: HeldDemandOptions) {
    this.#options = options;
    this.#term = options.clock.nowMs();
  }

  start(): void {
    const { clock, places } = this.#options;
    places.onChange((endpointId) => this.#note(endpointId));
    this.#stopWhole ??= clock.every(WHOLE_INTERVAL_MS, () => this.#tellWhole());
    this.#tellWhole();
  }

  /** Says once more what is held, which is nothing where the router has stopped to hold. */
  stop(): void {
    if (this.#stopWhole === undefined) return;
    this.#stopWhole();
    this.#stopWhole = undefined;
    this.#disarm?.();
    this.#tellWhole();
  }

  #note(endpointId: EndpointId): void {
    this.#changed.add(endpointId);
    if (this.#disarm !== undefined || this.#stopWhole === undefined) return;
    const { clock } = this.#options;
    const waitMs = Math.max(0, this.#toldAtMs + DEBOUNCE_MS - clock.monotonicMs());
    this.#disarm = clock.after(waitMs, () => {
      this.#disarm = undefined;
      this.#tellChanges();
    });
  }

  #tellChanges(): void {
    const changed = [...this.#changed].filter((id) => this.#wordsOf(id) !== (this.#told.get(id) ?? ''));
    this.#changed.clear();
    for (let at = 0; at < changed.length; at += ENDPOINTS_PER_MESSAGE) {
      this.#publish(changed.slice(at, at + ENDPOINTS_PER_MESSAGE), null);
    }
  }

  #tellWhole(): void {
    const ids = this.#options.places.endpointIds().filter((id) => this.#wordsOf(id) !== '');
    this.#changed.clear();
    this.#told.clear();
    const count = Math.max(1, Math.ceil(ids.length / ENDPOINTS_PER_MESSAGE));
    for (let index = 0; index < count; index += 1) {
      const part = ids.slice(index * ENDPOINTS_PER_MESSAGE, (index + 1) * ENDPOINTS_PER_MESSAGE);
      this.#publish(part, { index, count });
    }
  }

  #publish(ids: readonly EndpointId[], part: WitnessMessage['witness']['part']): void {
    const { clock, publish, routerId } = this.#options;
    this.#sequence += 1;
    this.#toldAtMs = clock.monotonicMs();
    for (const id of ids) this.#remember(id);
    publish({
      witness: { kind: 'router', id: routerId, term: this.#term, part },
      sentAtMs: clock.nowMs(),
      sequence: this.#sequence,
      endpoints: ids.map((endpointId) => ({ endpointId, ...this.#demandOf(endpointId) })),
      unknown: [],
    });
  }

  #remember(id: EndpointId): void {
    const words = this.#wordsOf(id);
    if (words === '') this.#told.delete(id);
    else this.#told.set(id, words);
  }

  /** What is news of it when it changes: how many wait, and for whom alone. */
  #wordsOf(id: EndpointId): string {
    const { queuedNormal, strict = [] } = this.#demandOf(id);
    return queuedNormal === 0 ? '' : [queuedNormal, ...strict.map((each) => `${each.workerId} ${each.queued}`)].join();
  }

  #demandOf(id: EndpointId): Demand {
    return demandOfHeld(this.#options.places.heldOf(id));
  }
}
