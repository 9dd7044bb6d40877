import type { EndpointId, JobKey } from '@berth/domain';
import type { Broker } from '../broker/broker.js';
import { purgeSubject } from '../broker/remove-messages.js';
import { DELIVERY_SHARDS, ENDPOINT_SHARDS, JOB_SHARDS } from '../topology/shards.js';
import { subjectToken } from '../topology/subject-token.js';
import {
  FAMILIES,
  blobStream,
  deliveryStream,
  chunkStream,
  leaseStream,
  parseAttachmentSubject,
  readerCursorStream,
  recordStream,
  reservationStream,
  ticketStream,
} from '../topology/subjects.js';

/** A job that has payload parts (`attempt` null), or an attempt of it that has stream chunks. */
export interface JobAttachment extends JobKey {
  readonly attempt: number | null;
}

interface Family {
  readonly name: string;
  readonly stream: (shard: number) => string;
  readonly shards: number;
}

const BLOBS: Family = { name: FAMILIES.blobs, stream: blobStream, shards: JOB_SHARDS };
const CHUNKS: Family = { name: FAMILIES.chunks, stream: chunkStream, shards: JOB_SHARDS };

/** Hints first, so that nothing is handed out whose record is about to go; records last, so that a crash is noticed. */
const PURGE_ORDER: readonly Family[] = [
  { name: FAMILIES.tickets, stream: ticketStream, shards: ENDPOINT_SHARDS },
  { name: FAMILIES.deliveries, stream: deliveryStream, shards: DELIVERY_SHARDS },
  { name: FAMILIES.leases, stream: leaseStream, shards: ENDPOINT_SHARDS },
  { name: FAMILIES.readerCursors, stream: readerCursorStream, shards: ENDPOINT_SHARDS },
  CHUNKS,
  BLOBS,
  { name: FAMILIES.reservations, stream: reservationStream, shards: JOB_SHARDS },
  { name: FAMILIES.records, stream: recordStream, shards: JOB_SHARDS },
];

/** What lies in the job streams, by subject alone, for maintenance. */
export class StoreSurvey {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Each job with payload parts and each attempt with chunks, once; one that comes or goes meanwhile may be missed. */
  async *attachments(): AsyncGenerator<JobAttachment> {
    yield* this.#jobsOf(BLOBS, () => null);
    yield* this.#jobsOf(CHUNKS, Number);
  }

  /**
   * Removes every message of the endpoint from the job streams and returns how many there were. `EV` keeps its events.
   *
   * @throws PlatformError `service-unavailable` when no answer comes; what was removed stays removed
   */
  async purgeEndpoint(endpointId: EndpointId): Promise<number> {
    let removed = 0;
    for (const { name, stream, shards } of PURGE_ORDER) {
      for (let shard = 0; shard < shards; shard += 1) {
        removed += await purgeSubject(this.#broker, stream(shard), `${name}.${shard}.${subjectToken(endpointId)}.>`);
      }
    }
    return removed;
  }

  async *#jobsOf(
    { name, stream, shards }: Family,
    attemptOf: (token: string) => number | null,
  ): AsyncGenerator<JobAttachment> {
    for (let shard = 0; shard < shards; shard += 1) {
      const { state } = await this.#broker.manager.streams.info(stream(shard), {
        subjects_filter: `${name}.${shard}.>`,
      });
      const seen = new Set<string>();
      for (const subject of Object.keys(state.subjects ?? {})) {
        const found = parseAttachmentSubject(subject);
        const attempt = attemptOf(found?.third ?? '');
        // What names no job has no owner that could be looked for; it expires, or goes with its endpoint.
        if (found === null || Number.isNaN(attempt)) {
          this.#broker.noteUnreadable({ place: 'attachments', key: subject, reason: 'its subject names no job' });
          continue;
        }
        const { endpointId, jobId } = found;
        const place = `${endpointId}.${jobId}.${attempt ?? ''}`;
        if (seen.has(place)) continue;
        seen.add(place);
        yield { endpointId, jobId, attempt };
      }
    }
  }
}
