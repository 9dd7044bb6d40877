import type { JobKey } from '@berth/domain';
import type { JobWatch } from '../edge/index.js';

/** One request and the job that it became. */
export interface OpenAiExchange {
  readonly key: JobKey;
  readonly watch: JobWatch;
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal;
  /** Set when the job is known to have ended: it need not be cancelled. */
  isOver: boolean;
}
