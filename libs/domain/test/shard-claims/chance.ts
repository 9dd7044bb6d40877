/** Chance that repeats: the same seed gives the same story. The generator is mulberry32. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  integer(min: number, max: number): number {
    return min + Math.floor(this.#fraction() * (max - min + 1));
  }

  is(share: number): boolean {
    return this.#fraction() < share;
  }

  #fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
