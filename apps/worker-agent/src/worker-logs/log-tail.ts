import { LOG_TAIL_CHARACTERS_MAX, LOG_TAIL_LINES_MAX, cleanText } from '@berth/domain';
import type { Logger } from '@berth/telemetry';
import type { ReadLogTail } from '../bridge/index.js';
import type { ContainerRuntime } from '../runtimes/index.js';

/** Asked for, because blank ones are left out. */
const LINES_READ = 3 * LOG_TAIL_LINES_MAX;

/** What a worker wrote last, for the history of its jobs: a log that cannot be read keeps no job from being reported. */
export function logTailOf({ runtime, logger }: { runtime: ContainerRuntime; logger: Logger }): ReadLogTail {
  return async (workerId) => {
    try {
      return cleanLines(await runtime.logs(workerId, LINES_READ)).slice(-LOG_TAIL_LINES_MAX);
    } catch (error) {
      logger.warn('the log of a lost worker cannot be read', { workerId, error });
      return [];
    }
  };
}

/** Lines that may be shown anywhere: bounded, without control characters, none of them blank. */
export const cleanLines = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => cleanText(line, LOG_TAIL_CHARACTERS_MAX)).filter((line) => line !== '');
