/** A request that waits for a worker. */
export interface Held {
  /** What it wants. Where one has no worker to go to, those behind it that want the same have none either. */
  readonly lane: string;
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

interface Standing {
  /** Rises with each that enters. */
  readonly turn: number;
  isAsked: boolean;
}

/**
 * The requests of one endpoint that no worker has yet, oldest first. One that a worker is being asked to take keeps its
 * place, so that it is the first again where it is refused; it fills no room meanwhile.
 */
export class HoldLine<Entry extends Held> {
  readonly #limits: HoldLimits;
  readonly #entries = new Map<Entry, Standing>();
  /** The same by lane, each oldest first: what is looked at often is the front of each, however many are behind. */
  readonly #lanes = new Map<string, Set<Entry>>();
  #turns = 0;
  #waiting = 0;
  #bytes = 0;

  constructor(limits: HoldLimits = HOLD_LIMITS) {
    this.#limits = limits;
  }

  /** With those that a worker is being asked to take. */
  get size(): number {
    return this.#entries.size;
  }

  /** Those that no worker is being asked to take. */
  get waitingCount(): number {
    return this.#waiting;
  }

  /** Whether one more may wait. */
  hasRoomFor(bytes: number): boolean {
    return this.#waiting < this.#limits.countMax && this.#bytes + bytes <= this.#limits.bytesMax;
  }

  enter(entry: Entry): void {
    if (this.#entries.has(entry)) return;
    this.#turns += 1;
    this.#entries.set(entry, { turn: this.#turns, isAsked: false });
    const lane = this.#lanes.get(entry.lane) ?? new Set<Entry>();
    this.#lanes.set(entry.lane, lane.add(entry));
    this.#count(entry, 1);
  }

  leave(entry: Entry): void {
    if (this.#entries.get(entry)?.isAsked === false) this.#count(entry, -1);
    this.#entries.delete(entry);
    const lane = this.#lanes.get(entry.lane);
    lane?.delete(entry);
    if (lane?.size === 0) this.#lanes.delete(entry.lane);
  }

  /** A worker is asked to take it, or has refused it. */
  note(entry: Entry, isAsked: boolean): void {
    const standing = this.#entries.get(entry);
    if (standing === undefined || standing.isAsked === isAsked) return;
    standing.isAsked = isAsked;
    this.#count(entry, isAsked ? -1 : 1);
  }

  /** It waits, and no worker is being asked to take it. */
  isWaiting(entry: Entry): boolean {
    return this.#entries.get(entry)?.isAsked === false;
  }

  /** The oldest in each lane that no worker is being asked to take. */
  fronts(): Entry[] {
    return [...this.#lanes.values()].flatMap((lane) => this.#frontOf(lane) ?? []);
  }

  /** The oldest of these. Null: no lane but the blocked ones has any. */
  next(blocked: ReadonlySet<string>): Entry | null {
    let oldest: Entry | null = null;
    for (const front of this.fronts()) {
      if (!blocked.has(front.lane) && (oldest === null || this.#turnOf(front) < this.#turnOf(oldest))) oldest = front;
    }
    return oldest;
  }

  /** Those that no worker is being asked to take, oldest first. */
  waiting(): Entry[] {
    return [...this.#entries].flatMap(([entry, { isAsked }]) => (isAsked ? [] : [entry]));
  }

  /** All, whether or not a worker is being asked. */
  all(): Entry[] {
    return [...this.#entries.keys()];
  }

  #frontOf(lane: ReadonlySet<Entry>): Entry | null {
    for (const entry of lane) if (this.isWaiting(entry)) return entry;
    return null;
  }

  #turnOf(entry: Entry): number {
    return this.#entries.get(entry)?.turn ?? Number.POSITIVE_INFINITY;
  }

  #count({ bytes }: Entry, sign: 1 | -1): void {
    this.#waiting += sign;
    this.#bytes += sign * bytes;
  }
}
