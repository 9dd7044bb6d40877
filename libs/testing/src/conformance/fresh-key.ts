import type { EndpointId, JobId, JobKey } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';

/** A key that no other test uses: the stores under test are shared. */
export const freshKey = (): JobKey => ({
  endpointId: `ep-${systemRandom.id(8)}` as EndpointId,
  jobId: systemRandom.uuid() as JobId,
});
