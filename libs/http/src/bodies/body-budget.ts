import { PlatformError } from '@berth/domain';

/** Bodies that are under way in one direction at one time, all together: 25 of the largest, or any number of usual ones. */
const BUDGET_BYTES = 512 * 1024 ** 2;

/** The share that one account may have of it while all together have more than half: 1 / 4. */
const SHARES = 4;

const RETRY_AFTER_SECONDS = 1;

/** Room that one body takes. */
export interface BodyHold {
  /**
   * Takes nothing: only whether there would be room for so much as things are.
   *
   * @throws PlatformError as `grow` does
   */
  requireRoomFor(bytes: number): void;
  /** @throws PlatformError `service-unavailable` when the bodies under way, or those of its account, leave no room */
  grow(bytes: number): void;
  /** Gives back all of it, once. */
  release(): void;
}

/** Refuses bodies that would not fit into memory beside those that are under way already. */
export class BodyBudget {
  readonly #budgetBytes: number;
  readonly #shareBytes: number;
  /** Owner → bytes; none that has nothing. */
  readonly #taken = new Map<string, number>();
  #takenBytes = 0;

  constructor(budgetBytes = BUDGET_BYTES) {
    this.#budgetBytes = budgetBytes;
    this.#shareBytes = budgetBytes / SHARES;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /**
   * Takes nothing yet: bytes are counted as they come.
   *
   * @param owner the account that it is for; null: nobody's, and bounded by the whole alone
   */
  hold(owner: string | null): BodyHold {
    let held = 0;
    let isOver = false;
    return {
      requireRoomFor: (bytes) => {
        this.#requireRoom(owner, held, bytes - held);
      },
      grow: (bytes) => {
        if (isOver) return;
        this.#requireRoom(owner, held, bytes);
        held += bytes;
        this.#add(owner, bytes);
      },
      release: () => {
        if (!isOver) this.#add(owner, -held);
        isOver = true;
      },
    };
  }

  /** @throws PlatformError `service-unavailable` when the bodies under way leave no room */
  take(bytes: number, owner: string | null = null): () => void {
    const hold = this.hold(owner);
    hold.grow(bytes);
    return () => {
      hold.release();
    };
  }

  /**
   * A body that comes alone always fits, and of an account one at a time. Where most of the room is free nobody is the
   * worse for an account that has more than its share.
   */
  #requireRoom(owner: string | null, held: number, bytes: number): void {
    const others = this.#takenBytes - held;
    if (others > 0 && others + held + bytes > this.#budgetBytes) {
      throw noRoom('Too many large bodies are under way at the moment; try again.');
    }
    if (owner === null) return;
    if (others + held + bytes <= this.#budgetBytes / 2) return;
    const own = (this.#taken.get(owner) ?? 0) - held;
    if (own > 0 && own + held + bytes > this.#shareBytes) {
      throw noRoom('Too many large bodies of this account are under way at the moment; try again.');
    }
  }

  #add(owner: string | null, bytes: number): void {
    this.#takenBytes += bytes;
    if (owner === null) return;
    const own = (this.#taken.get(owner) ?? 0) + bytes;
    if (own > 0) this.#taken.set(owner, own);
    else this.#taken.delete(owner);
  }
}

const noRoom = (detail: string): PlatformError =>
  new PlatformError('service-unavailable', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
