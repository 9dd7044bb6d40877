/**
 * So much at most of something that many share. One may have two thirds of what the others leave, so there is always room
 * for one more, and nobody keeps out anybody who has less.
 */
export class Shares<Sharer> {
  readonly #max: number;
  readonly #had = new Map<Sharer, number>();
  #sum = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Whether one may have so much more. */
  hasRoomFor(sharer: Sharer, amount: number): boolean {
    const had = this.#of(sharer);
    return 3 * (had + amount) <= 2 * (this.#max - (this.#sum - had));
  }

  /** It has so much more; what is below 0 is given back. */
  add(sharer: Sharer, amount: number): void {
    const has = this.#of(sharer) + amount;
    this.#sum += amount;
    if (has > 0) this.#had.set(sharer, has);
    else this.#had.delete(sharer);
  }

  #of(sharer: Sharer): number {
    return this.#had.get(sharer) ?? 0;
  }
}
