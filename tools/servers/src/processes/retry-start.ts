import { systemClock } from '@berth/lifecycle';
import { ServerStartError } from './server-process.js';

/**
 * What goes away by itself: a port that somebody took between choosing and listening, and the memory that PostgreSQL's
 * children still hold for a moment after their parent was killed.
 */
const PASSING = /address already in use|EADDRINUSE|pre-existing shared memory block/i;

const STARTS_MAX = 6;
const PAUSE_MS = 200;

/** Calls `start` again while it fails for a passing reason: six times in all, one second. */
export const retryStart = async <T>(start: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      const isPassing = error instanceof ServerStartError && PASSING.test(error.message);
      if (!isPassing || attempt === STARTS_MAX) throw error;
      await systemClock.sleep(PAUSE_MS);
    }
  }
};
