import type { AssignedJob, TakeAsker } from '@berth/contracts';
import type { Clock } from '@berth/lifecycle';
import type { TakeWish } from '@berth/domain';

/** `silent`: this owner does not know, and may say nothing. */
export type TakeAnswer = readonly AssignedJob[] | 'silent';

/** One asker's wait. */
interface Wait {
  readonly answer: (answer: TakeAnswer) => void;
  readonly cancel: () => void;
}

export type TakePhase =
  /** It may be given jobs. */
  | 'open'
  /** Its time is over: whatever it was given by now is its answer. */
  | 'ending'
  /** As `ending`, and it wants nothing new. */
  | 'withdrawn'
  /** It has got jobs, and they are being read for the host that waits. */
  | 'given'
  /** It has been answered. */
  | 'over';

/** A wish that is held, and the host that waits for it now. One take id is one of these, however often it is asked. */
export class HeldTake {
  readonly wish: TakeWish;
  /** The asker that asked last. */
  asker: TakeAsker;
  phase: TakePhase = 'over';
  /** How many times it has begun to wait anew. */
  openings = 0;
  /** The owner is being asked about it. */
  isUnderWay = false;
  #wait: Wait | null = null;

  constructor(wish: TakeWish) {
    this.wish = wish;
    this.asker = wish;
  }

  /**
   * The question that waited for it before was given up, and gets nothing: only one answer may leave. Silence would have a
   * router ask again that was asked before, and the two take the wish from each other.
   */
  wait(
    asker: TakeAsker,
    waitMs: number,
    { clock, onOver }: { readonly clock: Clock; readonly onOver: () => void },
  ): Promise<TakeAnswer> {
    this.answer([]);
    this.asker = asker;
    const { promise, resolve } = Promise.withResolvers<TakeAnswer>();
    this.#wait = { answer: resolve, cancel: clock.after(waitMs, onOver) };
    return promise;
  }

  answer(answer: TakeAnswer): void {
    this.#wait?.cancel();
    this.#wait?.answer(answer);
    this.#wait = null;
  }
}
