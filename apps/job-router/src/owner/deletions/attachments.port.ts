import type { EndpointId, JobKey, Leftovers } from '@berth/domain';

/**
 * Payload parts and stream chunks, which lie beside the logs. What is gone already is success.
 *
 * Each throws PlatformError `service-unavailable` where no answer comes.
 */
export interface Attachments {
  remove(key: JobKey, leftovers: Leftovers): Promise<void>;
  /** Everything of the endpoint; how much there was. What was removed by the time of a failure stays removed. */
  removeEndpoint(endpointId: EndpointId): Promise<number>;
}
