interface Running {
  readonly work: Promise<void>;
  readonly cancel: AbortController;
  readonly listeners: Set<(percent: number) => void>;
  lastPercent: number | null;
  waiters: number;
}

export interface SharedOptions {
  readonly signal: AbortSignal | undefined;
  readonly onPercent: ((percent: number) => void) | undefined;
}

/** The same work, asked for several times at once, is done once; it is given up when nobody waits for it any more. */
export class SharedWork {
  readonly #running = new Map<string, Running>();

  async run(
    key: string,
    begin: (shared: { readonly signal: AbortSignal; readonly onPercent: (percent: number) => void }) => Promise<void>,
    { onPercent, signal }: SharedOptions,
  ): Promise<void> {
    const running = this.#running.get(key) ?? this.#begin(key, begin);
    running.waiters += 1;
    if (onPercent !== undefined) {
      running.listeners.add(onPercent);
      if (running.lastPercent !== null) onPercent(running.lastPercent);
    }
    const leave = Promise.withResolvers<never>();
    const onAbort = (): void => {
      leave.reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([running.work, leave.promise]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (onPercent !== undefined) running.listeners.delete(onPercent);
      running.waiters -= 1;
      if (running.waiters === 0) this.#giveUp(key, running);
    }
  }

  #begin(key: string, begin: Parameters<SharedWork['run']>[1]): Running {
    const cancel = new AbortController();
    const listeners = new Set<(percent: number) => void>();
    const onPercent = (percent: number): void => {
      running.lastPercent = percent;
      for (const listener of listeners) listener(percent);
    };
    const work = begin({ signal: cancel.signal, onPercent }).finally(() => {
      this.#forget(key, running);
    });
    // Each caller that waits hears of a failure; one that nobody waits for any more is no news.
    work.catch(() => undefined);
    const running: Running = { work, cancel, listeners, lastPercent: null, waiters: 0 };
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
