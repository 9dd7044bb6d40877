import type { Random } from '@berth/lifecycle';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Chance that repeats: the same seed gives the same run. The generator is mulberry32. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  /** True in the given share of calls. */
  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.integer(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  id(length: number): string {
    return Array.from({ length }, () => this.pick([...ALPHABET])).join('');
  }

  uuid(): string {
    const hex = (length: number): string => Array.from({ length }, () => this.integer(0, 15).toString(16)).join('');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  }
}
