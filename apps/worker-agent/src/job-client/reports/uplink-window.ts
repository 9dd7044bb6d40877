import type { Clock } from '@berth/lifecycle';

/** A second of a line of 2 Mbit/s. */
const UPLINK_WINDOW_MIN_BYTES = 256 * 1024;
/** Fills a line of 300 Mbit/s at 100 ms to the broker and back. */
const WINDOW_MAX_BYTES = 4 * 1024 * 1024;
const FAST_MS = 300;
const SLOW_MS = 1_000;

export interface Load {
  readonly bytes: number;
  /** The loads of several owners take turns. */
  readonly owner: string;
  /** Goes before what its owner has waiting that is not. */
  readonly isUrgent: boolean;
}

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/** The loads of one owner that wait. */
interface Queue {
  readonly urgent: Waiting[];
  readonly others: Waiting[];
  /** An urgent load has gone in this turn of its owner, which goes on with one that is not. */
  hadUrgent: boolean;
}

/** However small they are. */
const LOADS_AT_ONCE = 64;

/**
 * Bounds what this host has sent and nobody has acknowledged, so that on a slow line nothing waits long behind it. One
 * load goes alone where it is larger than the window.
 */
export class UplinkWindow {
  readonly #clock: Clock;
  /** In the order of their turns. */
  readonly #byOwner = new Map<string, Queue>();
  #windowBytes = UPLINK_WINDOW_MIN_BYTES;
  #sentBytes = 0;
  #loads = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param action told how much is under way before it */
  async run<T>(load: Load, action: (aheadBytes: number) => Promise<T>): Promise<T> {
    await this.#admitted(load);
    const sentAtMs = this.#clock.monotonicMs();
    try {
      const result = await action(this.#sentBytes - load.bytes);
      this.#windowBytes = nextWindowBytes(this.#windowBytes, this.#clock.monotonicMs() - sentAtMs);
      return result;
    } catch (error) {
      this.#windowBytes = UPLINK_WINDOW_MIN_BYTES;
      throw error;
    } finally {
      this.#loads -= 1;
      this.#sentBytes -= load.bytes;
      this.#admitNext();
    }
  }

  #admitted({ bytes, isUrgent, owner }: Load): Promise<void> {
    return new Promise((begin) => {
      const queue = this.#byOwner.get(owner) ?? { urgent: [], others: [], hadUrgent: false };
      this.#byOwner.set(owner, queue);
      (isUrgent ? queue.urgent : queue.others).push({ bytes, begin });
      this.#admitNext();
    });
  }

  /** In order: a small load that went before a large one could keep it waiting for ever. */
  #admitNext(): void {
    for (let next = this.#first(); next !== undefined && this.#fits(next); next = this.#first()) {
      this.#takeFirst();
      this.#loads += 1;
      this.#sentBytes += next.bytes;
      next.begin();
    }
  }

  #first(): Waiting | undefined {
    const queue = this.#byOwner.values().next().value;
    return queue === undefined ? undefined : lineOf(queue)[0];
  }

  #takeFirst(): void {
    const [first] = this.#byOwner;
    if (first === undefined) return;
    const [owner, queue] = first;
    const line = lineOf(queue);
    line.shift();
    queue.hadUrgent = line === queue.urgent && queue.others.length > 0 && !queue.hadUrgent;
    if (queue.hadUrgent) return;
    // The map keeps the order of insertion: its owner goes to the end.
    this.#byOwner.delete(owner);
    if (queue.urgent.length + queue.others.length > 0) this.#byOwner.set(owner, queue);
  }

  #fits({ bytes }: Waiting): boolean {
    if (this.#loads === 0) return true;
    return this.#loads < LOADS_AT_ONCE && this.#sentBytes + bytes <= this.#windowBytes;
  }
}

/** From which of its lines an owner's next load comes: one that is urgent and one that is not take turns. */
function lineOf({ hadUrgent, others, urgent }: Queue): Waiting[] {
  const isUrgentNext = urgent.length > 0 && (!hadUrgent || others.length === 0);
  return isUrgentNext ? urgent : others;
}

/** An acknowledgement that comes soon says that the line could carry more at a time, a late one that it carries too much. */
export function nextWindowBytes(windowBytes: number, tookMs: number): number {
  if (tookMs > SLOW_MS) return Math.max(UPLINK_WINDOW_MIN_BYTES, windowBytes / 2);
  return tookMs < FAST_MS ? Math.min(WINDOW_MAX_BYTES, windowBytes * 2) : windowBytes;
}
