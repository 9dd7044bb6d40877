import type { Clock } from '@berth/lifecycle';
import { isToken } from '../platform/index.js';
import type { Snapshots } from './snapshots.port.js';

/** How long "there is none" is believed: it bounds the reads that made-up ids can cause. */
const MISS_MS = 1_000;
const MISSES_MAX = 10_000;

/**
 * Reads from memory, and from the bucket itself where memory has nothing: who has just created something must not hear
 * that it does not exist because the watch is a moment behind.
 */
export class SnapshotLookup<Snapshot> {
  readonly #source: Snapshots<Snapshot>;
  readonly #clock: Clock;
  /** Key → monotonic instant until which it counts as missing, oldest first. */
  readonly #misses = new Map<string, number>();
  readonly #pending = new Map<string, Promise<Snapshot | null>>();

  constructor(source: Snapshots<Snapshot>, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** @throws PlatformError `service-unavailable` when memory has nothing and the bucket cannot be asked */
  async find(key: string): Promise<Snapshot | null> {
    const known = this.#source.get(key);
    if (known !== undefined) return known;
    if (!isToken(key) || this.#isMissing(key)) return null;
    return this.#fetchOnce(key);
  }

  /** The latest version, whatever memory says. */
  async fetch(key: string): Promise<Snapshot | null> {
    return isToken(key) && !this.#isMissing(key) ? this.#fetchOnce(key) : null;
  }

  #fetchOnce(key: string): Promise<Snapshot | null> {
    const pending = this.#pending.get(key) ?? this.#fetch(key);
    this.#pending.set(key, pending);
    return pending;
  }

  async #fetch(key: string): Promise<Snapshot | null> {
    try {
      const found = await this.#source.fetch(key);
      if (found === null) this.#noteMiss(key);
      return found;
    } finally {
      this.#pending.delete(key);
    }
  }

  #isMissing(key: string): boolean {
    const untilMs = this.#misses.get(key);
    if (untilMs === undefined) return false;
    if (this.#clock.monotonicMs() < untilMs) return true;
    this.#misses.delete(key);
    return false;
  }

  #noteMiss(key: string): void {
    this.#misses.delete(key);
    this.#misses.set(key, this.#clock.monotonicMs() + MISS_MS);
    if (this.#misses.size <= MISSES_MAX) return;
    const [oldest] = this.#misses.keys();
    if (oldest !== undefined) this.#misses.delete(oldest);
  }
}
