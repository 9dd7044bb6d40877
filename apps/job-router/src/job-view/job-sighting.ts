import { isEnded } from '@berth/domain';
import type { JobChanged } from '@berth/messaging';

/** One version of a job's record as the feed tells it, without payloads. */
export type JobSighting = Omit<JobChanged, 'evSequence'>;

/** True while the job waits or runs. */
export const isLive = ({ state }: Pick<JobSighting, 'state'>): boolean => !isEnded(state);
