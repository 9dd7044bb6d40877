import { Semaphore } from '@berth/lifecycle';

const LARGE_AT_ONCE = 4;
/** 4 MiB at most. They are kept until a router has them, which takes some milliseconds and brings many at once. */
const SMALL_AT_ONCE = 64;

/** How many bodies of one worker are kept in memory at a time, until they are safe. */
export class BodySemaphores {
  readonly #large = new Semaphore(LARGE_AT_ONCE);
  readonly #small = new Semaphore(SMALL_AT_ONCE);

  /** @param isSmall of the body that the action reads */
  run<T>(isSmall: boolean, action: () => Promise<T>): Promise<T> {
    return (isSmall ? this.#small : this.#large).run(action);
  }
}
