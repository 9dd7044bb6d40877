import type { Clock } from './clock.js';

const TIMER_MAX_MS = 2_147_483_647;
/** A moment that is over already comes at once. */
const timerMs = (ms: number): number => Math.min(Math.max(ms, 0), TIMER_MAX_MS);

/** The machine's own clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, timerMs(ms));
      signal?.addEventListener('abort', wake, { once: true });
    }),
  after: (ms, act) => {
    const timer = setTimeout(act, timerMs(ms));
    return () => {
      clearTimeout(timer);
    };
  },
  every: (ms, tick) => {
    const timer = setInterval(tick, ms);
    return () => {
      clearInterval(timer);
    };
  },
};
