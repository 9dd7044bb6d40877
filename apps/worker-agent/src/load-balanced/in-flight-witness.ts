import type { WitnessMessage } from '@berth/contracts';
import { NO_DEMAND, type EndpointId, type HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';

export interface InFlightWitnessOptions {
  readonly hostId: HostId;
  /** How many requests each endpoint has here; those without any need not be named. */
  readonly inFlight: () => ReadonlyMap<EndpointId, number>;
  /** Calls the listener whenever that has changed; returns the function that ends it. */
  readonly onChange: (listener: () => void) => () => void;
  /** Sends it to those who listen now; throws while nobody can be told. */
  readonly tell: (message: WitnessMessage) => void;
  /** Called where it could not be told. */
  readonly onUntold: () => void;
  readonly clock: Clock;
}

/** As often as owners of shards tell. */
const WHOLE_INTERVAL_MS = 2_000;
/** Requests begin and end by the thousand in a second: what changes within this is told together. */
const CHANGES_INTERVAL_MS = 100;
/** Some 100 KB. */
const PART_ENDPOINTS_MAX = 500;

/** Tells the controllers what is in flight on this host (ADR 0052): all of it now and then, and what changes at once. */
export class InFlightWitness {
  readonly #options: InFlightWitnessOptions;
  /** Rises with every start, as long as the machine's clock does; one that was set back counts again ten seconds later. */
  readonly #term: number;
  readonly #ends: (() => void)[] = [];
  #sequence = 0;
  #told: ReadonlyMap<EndpointId, number> = new Map();
  #cancelPause: (() => void) | null = null;
  #hasNews = false;

  constructor(options: InFlightWitnessOptions) {
    this.#options = options;
    this.#term = Math.max(0, Math.floor(options.clock.nowMs()));
  }

  start(): void {
    const { clock, onChange } = this.#options;
    this.#ends.push(
      clock.every(WHOLE_INTERVAL_MS, () => {
        this.#tellWhole();
      }),
      onChange(() => {
        this.#note();
      }),
    );
    this.#tellWhole();
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#cancelPause?.();
    this.#cancelPause = null;
  }

  #note(): void {
    this.#hasNews = true;
    if (this.#cancelPause !== null) return;
    this.#tellChanges();
    this.#cancelPause = this.#options.clock.after(CHANGES_INTERVAL_MS, () => {
      this.#cancelPause = null;
      if (this.#hasNews) this.#note();
    });
  }

  #tellWhole(): void {
    const entries = [...this.#options.inFlight()];
    const count = Math.max(1, Math.ceil(entries.length / PART_ENDPOINTS_MAX));
    for (let index = 0; index < count; index += 1) {
      const part = entries.slice(index * PART_ENDPOINTS_MAX, (index + 1) * PART_ENDPOINTS_MAX);
      if (!this.#tell(part, { index, count })) return;
    }
    this.#told = new Map(entries);
  }

  #tellChanges(): void {
    this.#hasNews = false;
    const now = this.#options.inFlight();
    const names = new Set([...now.keys(), ...this.#told.keys()]);
    const changed = [...names].filter((id) => (now.get(id) ?? 0) !== (this.#told.get(id) ?? 0));
    const entries = changed.slice(0, PART_ENDPOINTS_MAX).map((id) => [id, now.get(id) ?? 0] as const);
    // What is beyond that, or could not be told, is in the next whole list.
    if (entries.length > 0 && this.#tell(entries, null)) this.#told = new Map([...this.#told, ...entries]);
  }

  /** False where nobody can be told now: the next whole list is not far. */
  #tell(entries: readonly (readonly [EndpointId, number])[], part: WitnessMessage['witness']['part']): boolean {
    const { clock, hostId, onUntold, tell } = this.#options;
    this.#sequence += 1;
    try {
      tell({
        witness: { kind: 'host', id: hostId, term: this.#term, part },
        sentAtMs: clock.nowMs(),
        sequence: this.#sequence,
        endpoints: entries.map(([endpointId, running]) => ({ endpointId, ...NO_DEMAND, running })),
        unknown: [],
      });
      return true;
    } catch {
      onUntold();
      return false;
    }
  }
}
