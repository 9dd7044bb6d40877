import type { JobId } from '@berth/domain';
import type { JobsAccepted } from '../edge/index.js';

/** The id of the one job that a request was for. @throws what its acceptance failed of */
export function acceptedId({ outcomes: [outcome] }: JobsAccepted): JobId {
  if (outcome === undefined) throw new Error('A request for one job came to no outcome.');
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome.id;
}
