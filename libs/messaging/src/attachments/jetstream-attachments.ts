import { outputBlobName } from '@berth/contracts';
import type { EndpointId, JobKey, Leftovers } from '@berth/domain';
import type { Broker } from '../broker/broker.js';
import { purgeSubject } from '../broker/remove-messages.js';
import { JOB_SHARDS } from '../topology/shards.js';
import { STREAMS, attachmentFilters, blobFilter, blobStream, chunkFilter, chunkStream } from '../topology/subjects.js';

/** Removes payload parts and stream chunks, by their subjects alone. */
export class JetStreamAttachments {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /**
   * The removal of something that is gone already is a success.
   *
   * @throws PlatformError `service-unavailable` when no answer comes
   */
  async remove(key: JobKey, leftovers: Leftovers): Promise<void> {
    const [chunks, blobs] = [STREAMS.chunks(key.jobId), STREAMS.blobs(key.jobId)];
    if (leftovers.of === 'job') {
      await purgeSubject(this.#broker, chunks, chunkFilter(key));
      await purgeSubject(this.#broker, blobs, blobFilter(key));
      return;
    }
    const { attempt, hasChunks, hasOutput } = leftovers;
    if (hasChunks) await purgeSubject(this.#broker, chunks, chunkFilter(key, attempt));
    if (hasOutput) await purgeSubject(this.#broker, blobs, blobFilter(key, outputBlobName(attempt)));
  }

  /**
   * Everything of the endpoint, one stream after the other; returns how many messages there were.
   *
   * @throws PlatformError `service-unavailable` when no answer comes; what was removed stays removed
   */
  async removeEndpoint(endpointId: EndpointId): Promise<number> {
    let removed = 0;
    for (let shard = 0; shard < JOB_SHARDS; shard += 1) {
      const { blobs, chunks } = attachmentFilters(shard, endpointId);
      removed += await purgeSubject(this.#broker, chunkStream(shard), chunks);
      removed += await purgeSubject(this.#broker, blobStream(shard), blobs);
    }
    return removed;
  }
}
