import { TAKE_SLOTS_MAX } from '../bounds.js';
import type { TakeWish } from '../commands.js';
import type { Taking } from '../job-data.js';
import type { EndpointState } from '../state.js';

export type FreeSlot = Omit<Taking, 'attempt'>;

interface Seated {
  readonly wish: TakeWish;
  used: number;
}

/**
 * Free slots of waiting workers: one of each in turn, the longest wait first, so that jobs spread over the workers. Of
 * thousands who wait only as many are looked at as there are jobs for.
 */
export class FreeSlots {
  readonly #state: EndpointState;
  readonly #wishes: readonly TakeWish[];
  readonly #names = new Set<string>();
  #looked = 0;
  #seated: Seated[] = [];
  #turn = 0;

  /** A take that was answered gets nothing more. */
  constructor(state: EndpointState, wishes: readonly TakeWish[]) {
    this.#state = state;
    this.#wishes = wishes;
  }

  /** Null: no slot is left. */
  next(): FreeSlot | null {
    const seated = this.#nextNew() ?? this.#nextAgain();
    if (seated === null) return null;
    const { hostId, secret, takeId, workerId } = seated.wish;
    const token = `${secret}.${seated.used}`;
    seated.used += 1;
    return { takeId, hostId, workerId, token };
  }

  #nextNew(): Seated | null {
    for (let wish = this.#wishes[this.#looked]; wish !== undefined; wish = this.#wishes[this.#looked]) {
      this.#looked += 1;
      const { takeId } = wish;
      const isKnown = this.#names.has(takeId) || this.#state.takes.get(takeId) !== undefined;
      this.#names.add(takeId);
      const seated = { wish, used: 0 };
      if (isKnown || !hasRoom(seated)) continue;
      this.#seated.push(seated);
      return seated;
    }
    return null;
  }

  /** Everybody has had a turn: once more those who have room, in the same order. */
  #nextAgain(): Seated | null {
    for (let round = 0; round < 2; round += 1) {
      for (; this.#turn < this.#seated.length; this.#turn += 1) {
        const seated = this.#seated[this.#turn] as Seated;
        if (!hasRoom(seated)) continue;
        this.#turn += 1;
        return seated;
      }
      this.#seated = this.#seated.filter(hasRoom);
      this.#turn = 0;
    }
    return null;
  }
}

const hasRoom = ({ used, wish }: Seated): boolean => used < Math.min(wish.slots, TAKE_SLOTS_MAX);
