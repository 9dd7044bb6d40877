import { TAKE_SLOTS_MAX } from '../bounds.js';
import type { TakeWish } from '../commands.js';
import type { Taking } from '../job-data.js';
import type { EndpointState } from '../state.js';

export type Seat = Omit<Taking, 'attempt'>;

/** Free slots of waiting workers: one of each in turn, the longest wait first, so that jobs spread over the workers. */
export class Seats {
  readonly #wishes: readonly TakeWish[];
  readonly #used: number[];
  #turn = 0;

  /** A take that was answered gets nothing more. */
  constructor(state: EndpointState, wishes: readonly TakeWish[]) {
    const names = new Set<string>();
    this.#wishes = wishes.filter(({ takeId }) => {
      const isNew = !names.has(takeId) && state.takes.get(takeId) === undefined;
      names.add(takeId);
      return isNew;
    });
    this.#used = this.#wishes.map(() => 0);
  }

  /** Null: no slot is left. */
  next(): Seat | null {
    for (let tried = 0; tried < this.#wishes.length; tried += 1) {
      const at = (this.#turn + tried) % this.#wishes.length;
      const wish = this.#wishes[at] as TakeWish;
      const used = this.#used[at] as number;
      if (used >= Math.min(wish.slots, TAKE_SLOTS_MAX)) continue;
      this.#used[at] = used + 1;
      this.#turn = at + 1;
      const { hostId, secret, takeId, workerId } = wish;
      return { takeId, hostId, workerId, token: `${secret}.${used}` };
    }
    return null;
  }
}
