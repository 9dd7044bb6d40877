import { cleanText, type WorkerId } from '@berth/domain';
import type { WorkerTools } from './worker-tools.js';

/** A line of an engine, of a kubelet, or of an operator's setup, for the log. */
const LINE_CHARACTERS_MAX = 500;

/** Tells whoever follows the worker, and the agent's own log, how a step of it goes that takes long. */
export const tellProgress =
  ({ logger, logs }: Pick<WorkerTools, 'logger' | 'logs'>, workerId: WorkerId, step: 'preparing' | 'starting') =>
  (line: string): void => {
    logs.say(workerId, `${step}: ${line}`);
    logger.info(`${step}: ${cleanText(line, LINE_CHARACTERS_MAX)}`, { workerId });
  };
