import type { ComingReason, ComingWorker } from './endpoint-outlook.js';

/** Why a job waits for a worker that is on its way, as its queue reason says it. */
export type ComingWord = ComingReason | 'start-delayed';

export const comingWord = ({ reason, stage }: Pick<ComingWorker, 'reason' | 'stage'>): ComingWord =>
  reason === 'worker-starting' && stage === 'delayed' ? 'start-delayed' : reason;
