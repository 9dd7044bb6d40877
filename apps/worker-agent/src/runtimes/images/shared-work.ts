/** What a waiter is told of the work. */
interface Hearer {
  readonly onPercent: ((percent: number) => void) | undefined;
  readonly onHeldUp: ((reason: string | null) => void) | undefined;
}

interface Running {
  readonly work: Promise<void>;
  readonly cancel: AbortController;
  readonly waiters: Set<Hearer>;
  lastPercent: number | null;
  /** What keeps it from going on, as told last; null: nothing does. */
  heldUpBy: string | null;
}

export interface SharedOptions extends Hearer {
  readonly signal: AbortSignal | undefined;
}

/** What the work itself is given: when to end, and whom to tell how it goes. */
export interface SharedCourse {
  readonly signal: AbortSignal;
  readonly onPercent: (percent: number) => void;
  readonly onHeldUp: (reason: string | null) => void;
}

/** The same work, asked for several times at once, is done once; it is given up when nobody waits for it any more. */
export class SharedWork {
  readonly #running = new Map<string, Running>();

  async run(
    key: string,
    begin: (course: SharedCourse) => Promise<void>,
    { onHeldUp, onPercent, signal }: SharedOptions,
  ): Promise<void> {
    // A signal says but once that it aborts: who gave up on the way here would wait to the end.
    signal?.throwIfAborted();
    const running = this.#running.get(key) ?? this.#begin(key, begin);
    const waiter: Hearer = { onHeldUp, onPercent };
    running.waiters.add(waiter);
    if (running.lastPercent !== null) onPercent?.(running.lastPercent);
    if (running.heldUpBy !== null) onHeldUp?.(running.heldUpBy);
    const leave = Promise.withResolvers<never>();
    const onAbort = (): void => {
      leave.reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([running.work, leave.promise]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      running.waiters.delete(waiter);
      if (running.waiters.size === 0) this.#giveUp(key, running);
    }
  }

  #begin(key: string, begin: Parameters<SharedWork['run']>[1]): Running {
    const cancel = new AbortController();
    const waiters = new Set<Hearer>();
    const onPercent = (percent: number): void => {
      running.lastPercent = percent;
      for (const waiter of waiters) waiter.onPercent?.(percent);
    };
    const onHeldUp = (reason: string | null): void => {
      running.heldUpBy = reason;
      for (const waiter of waiters) waiter.onHeldUp?.(reason);
    };
    const work = begin({ signal: cancel.signal, onPercent, onHeldUp }).finally(() => {
      this.#forget(key, running);
    });
    // Each caller that waits hears of a failure; one that nobody waits for any more is no news.
    work.catch(() => undefined);
    const running: Running = { work, cancel, waiters, lastPercent: null, heldUpBy: null };
    this.#running.set(key, running);
    return running;
  }

  /** A caller that asks from now on gets work of its own: this one ends by and by. */
  #giveUp(key: string, running: Running): void {
    this.#forget(key, running);
    running.cancel.abort();
  }

  #forget(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
  }
}
