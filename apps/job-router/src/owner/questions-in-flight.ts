/** How many questions of each peer are under way. A peer without any takes no room. */
export class QuestionsInFlight {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  /** @param max of one peer */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    let size = 0;
    for (const count of this.#counts.values()) size += count;
    return size;
  }

  /** What to call when it is over; null: the peer has as many as it may. */
  begin(peer: string): (() => void) | null {
    const count = this.#counts.get(peer) ?? 0;
    if (count >= this.#max) return null;
    this.#counts.set(peer, count + 1);
    return () => {
      const left = (this.#counts.get(peer) ?? 1) - 1;
      if (left === 0) this.#counts.delete(peer);
      else this.#counts.set(peer, left);
    };
  }
}
