/** A request that waits for a worker. */
export interface Held {
  /** Of its head: the body is not read. */
  readonly bytes: number;
  /** Monotonic. */
  readonly untilMs: number;
  /** Monotonic. */
  readonly sinceMs: number;
}

export interface HoldLimits {
  readonly countMax: number;
  readonly bytesMax: number;
}

/** Of one endpoint, at one router. */
const HOLD_LIMITS: HoldLimits = { countMax: 1_000, bytesMax: 64 * 1_024 * 1_024 };

/**
 * The requests of one endpoint that no worker has yet, oldest first. One that a worker is being asked to take keeps its
 * place, so that it is the first again where it is refused; it fills no room meanwhile.
 */
export class HoldLine<Entry extends Held> {
  readonly #limits: HoldLimits;
  /** Whether a worker is being asked. */
  readonly #entries = new Map<Entry, boolean>();
  #waiting = 0;
  #bytes = 0;

  constructor(limits: HoldLimits = HOLD_LIMITS) {
    this.#limits = limits;
  }

  /** With those that a worker is being asked to take. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether one more may wait. */
  hasRoomFor(bytes: number): boolean {
    return this.#waiting < this.#limits.countMax && this.#bytes + bytes <= this.#limits.bytesMax;
  }

  enter(entry: Entry): void {
    if (this.#entries.has(entry)) return;
    this.#entries.set(entry, false);
    this.#count(entry, 1);
  }

  leave(entry: Entry): void {
    if (this.#entries.get(entry) === false) this.#count(entry, -1);
    this.#entries.delete(entry);
  }

  /** A worker is asked to take it, or has refused it. */
  note(entry: Entry, isAsked: boolean): void {
    const wasAsked = this.#entries.get(entry);
    if (wasAsked === undefined || wasAsked === isAsked) return;
    this.#entries.set(entry, isAsked);
    this.#count(entry, isAsked ? -1 : 1);
  }

  /** It waits, and no worker is being asked to take it. */
  isWaiting(entry: Entry): boolean {
    return this.#entries.get(entry) === false;
  }

  /** Those that no worker is being asked to take, oldest first. */
  waiting(): Entry[] {
    return [...this.#entries].flatMap(([entry, isAsked]) => (isAsked ? [] : [entry]));
  }

  /** All, whether or not a worker is being asked. */
  all(): Entry[] {
    return [...this.#entries.keys()];
  }

  #count({ bytes }: Entry, sign: 1 | -1): void {
    this.#waiting += sign;
    this.#bytes += sign * bytes;
  }
}
