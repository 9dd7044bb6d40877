import { systemClock } from '@berth/lifecycle';

export interface EventuallyOptions {
  /** Longest wait, 90 s unless said otherwise: a machine may stand still for a minute; a passing test never waits for it. */
  readonly deadlineMs?: number;
  readonly intervalMs?: number;
}

const DEADLINE_DEFAULT_MS = 90_000;
const INTERVAL_DEFAULT_MS = 20;

/**
 * Repeats assertions until they hold, and returns what `check` returned then.
 * After the deadline the last failure is thrown as it was, so the report shows the difference and not "timed out".
 */
export const eventually = async <T>(check: () => Promise<T> | T, options: EventuallyOptions = {}): Promise<T> => {
  const startedMs = systemClock.monotonicMs();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (systemClock.monotonicMs() - startedMs >= (options.deadlineMs ?? DEADLINE_DEFAULT_MS)) throw error;
    }
    await systemClock.sleep(options.intervalMs ?? INTERVAL_DEFAULT_MS);
  }
};
