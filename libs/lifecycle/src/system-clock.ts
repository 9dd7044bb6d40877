import type { Clock } from './clock.js';

const TIMER_MAX_MS = 2_147_483_647;

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
      const timer = setTimeout(wake, Math.min(ms, TIMER_MAX_MS));
      signal?.addEventListener('abort', wake, { once: true });
    }),
  after: (ms, act) => {
    const timer = setTimeout(act, Math.min(ms, TIMER_MAX_MS));
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
