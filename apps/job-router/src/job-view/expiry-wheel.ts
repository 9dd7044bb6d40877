const SLOT_MS = 1_000;

/** Things by the second at which they are due. Adding one again does not remove it from its former second. */
export class ExpiryWheel<T> {
  readonly #slots = new Map<number, Set<T>>();
  #nextSlot = Number.POSITIVE_INFINITY;

  add(item: T, dueAtMs: number): void {
    const slot = Math.ceil(dueAtMs / SLOT_MS);
    const items = this.#slots.get(slot);
    if (items === undefined) this.#slots.set(slot, new Set([item]));
    else items.add(item);
    this.#nextSlot = Math.min(this.#nextSlot, slot);
  }

  /** Removes and returns what is due. */
  due(nowMs: number): readonly T[] {
    const now = Math.floor(nowMs / SLOT_MS);
    if (now < this.#nextSlot) return [];
    const found: T[] = [];
    for (const [slot, items] of this.#slots) {
      if (slot > now) continue;
      found.push(...items);
      this.#slots.delete(slot);
    }
    this.#nextSlot = Math.min(Number.POSITIVE_INFINITY, ...this.#slots.keys());
    return found;
  }
}
