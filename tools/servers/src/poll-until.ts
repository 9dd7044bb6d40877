import { systemClock } from '@berth/lifecycle';

/** A condition did not come true in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

export interface PollOptions {
  /** What is awaited, as the end of the sentence "Waited … for". */
  readonly what: string;
  readonly deadlineMs: number;
  /** Pause between two looks. */
  readonly intervalMs?: number;
}

const INTERVAL_DEFAULT_MS = 20;

/**
 * Calls `look` until it answers something else than `undefined`, and returns that.
 *
 * @throws DeadlineError after `deadlineMs`; whatever `look` throws passes through at once.
 */
export const pollUntil = async <T>(
  look: () => Promise<T | undefined> | T | undefined,
  options: PollOptions,
): Promise<T> => {
  const startedMs = systemClock.monotonicMs();
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (systemClock.monotonicMs() - startedMs >= options.deadlineMs) {
      throw new DeadlineError(`Waited ${String(options.deadlineMs)} ms for ${options.what}.`);
    }
    await systemClock.sleep(options.intervalMs ?? INTERVAL_DEFAULT_MS);
  }
};
