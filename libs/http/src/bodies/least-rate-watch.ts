import { followPassage, startPassage, type LeastRate, type Passage } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';

const LOOK_MS = 1_000;

export interface FollowedPassage {
  moved(bytes: number): void;
  /** It is over: nobody looks any more. */
  done(): void;
}

interface Followed {
  readonly rate: LeastRate;
  readonly onTooSlow: () => void;
  passage: Passage;
  movedBytes: number;
}

/** Looks once a second whether what is on its way still moves, for as long as there is anything. */
export class LeastRateWatch {
  readonly #clock: Clock;
  readonly #followed = new Set<Followed>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param onTooSlow called once, and nothing is followed from then on */
  follow(rate: LeastRate, onTooSlow: () => void): FollowedPassage {
    const passage = startPassage(rate, this.#clock.monotonicMs());
    const followed: Followed = { rate, onTooSlow, passage, movedBytes: 0 };
    this.#followed.add(followed);
    this.#stop ??= this.#clock.every(LOOK_MS, () => {
      this.#look();
    });
    return {
      moved: (bytes) => {
        followed.movedBytes += bytes;
      },
      done: () => {
        this.#forget(followed);
      },
    };
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const followed of this.#followed) {
      const verdict = followPassage(followed.passage, followed.rate, { bytes: followed.movedBytes, nowMs });
      followed.passage = verdict.passage;
      followed.movedBytes = 0;
      if (!verdict.isTooSlow) continue;
      this.#forget(followed);
      followed.onTooSlow();
    }
  }

  #forget(followed: Followed): void {
    this.#followed.delete(followed);
    if (this.#followed.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
