import { cleanText, type WorkerId } from '@berth/domain';
import type { WorkerTools } from './worker-tools.js';

/** A line of an engine, of a kubelet, or of an operator's setup, for the log. */
const LINE_CHARACTERS_MAX = 500;

/** Tells whoever follows the worker, and the agent's own log, how its preparation goes. */
export const tellProgress =
  ({ logger, logs }: Pick<WorkerTools, 'logger' | 'logs'>, workerId: WorkerId) =>
  (line: string): void => {
    logs.say(workerId, `preparing: ${line}`);
    logger.info(`preparing: ${cleanText(line, LINE_CHARACTERS_MAX)}`, { workerId });
  };
