import type { Clock } from '@berth/lifecycle';
import { UPLINK_WINDOW_MIN_BYTES, nextWindowBytes } from './window-bytes.js';

export interface Load {
  readonly bytes: number;
  /** The loads of several owners take turns. */
  readonly owner: string;
  /** Goes before all that is not. */
  readonly isUrgent: boolean;
}

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/** However small they are. */
const LOADS_AT_ONCE = 64;

/**
 * Bounds what this host has sent and nobody has acknowledged, so that on a slow line nothing waits long behind it. One
 * load goes alone where it is larger than the window.
 */
export class UplinkWindow {
  readonly #clock: Clock;
  readonly #urgent: Waiting[] = [];
  readonly #byOwner = new Map<string, Waiting[]>();
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
      const waiting = { bytes, begin };
      const queue = isUrgent ? this.#urgent : this.#byOwner.get(owner);
      if (queue === undefined) this.#byOwner.set(owner, [waiting]);
      else queue.push(waiting);
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
    return this.#urgent[0] ?? this.#byOwner.values().next().value?.[0];
  }

  #takeFirst(): void {
    if (this.#urgent.shift() !== undefined) return;
    const [owner, queue] = this.#byOwner.entries().next().value ?? ['', []];
    queue.shift();
    // The map keeps the order of insertion: its owner goes to the end.
    this.#byOwner.delete(owner);
    if (queue.length > 0) this.#byOwner.set(owner, queue);
  }

  #fits({ bytes }: Waiting): boolean {
    if (this.#loads === 0) return true;
    return this.#loads < LOADS_AT_ONCE && this.#sentBytes + bytes <= this.#windowBytes;
  }
}
