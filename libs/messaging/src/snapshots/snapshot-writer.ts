import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { BROKER_HEADERS } from '../broker/headers.js';
import type { Publication } from '../broker/publication.js';
import { publishMessage } from '../broker/publish-message.js';
import { readLatest } from '../broker/read-message.js';
import { scanStream } from '../broker/scan-stream.js';
import { bucketKeyOf, bucketKeySubject, bucketPlace, bucketStream, foundKeySubject } from '../topology/buckets.js';
import { decodeSnapshot, encodeSnapshot, type SnapshotCodec } from './snapshot-codec.js';

/** Says that a message of a bucket stands for a key that was removed. */
const OPERATION_HEADER = 'KV-Operation';
const PURGED = 'PURGE';

/** How long the trace of a removed key stays: longer than any reader is away without starting over. */
const REMOVED_KEY_MARKER_MS = 3_600_000;

export interface Snapshot<Value> {
  readonly value: Value;
  /** The key's version; grows with every write in the bucket. */
  readonly revision: number;
}

/** The value under a key, so that a writer that knows exactly this one can replace it. */
export interface LatestSnapshot<Value> {
  /** Null: nothing, or nothing that can be read. */
  readonly value: Value | null;
  /** True when there is nothing under the key, not even something that cannot be read. */
  readonly isAbsent: boolean;
  /** To be named by the write that replaces it; also of a removed key, and 0 where there never was one. */
  readonly revision: number;
}

export interface SnapshotWriterOptions<Value> {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly bucket: string;
  readonly codec: SnapshotCodec<Value>;
}

/** The one writer's side of a bucket of snapshots. */
export class SnapshotWriter<Value> {
  readonly #options: SnapshotWriterOptions<Value>;

  constructor(options: SnapshotWriterOptions<Value>) {
    this.#options = options;
  }

  /** The value as the bucket's leader knows it; null when there is none that can be read. */
  async read(key: string): Promise<Snapshot<Value> | null> {
    const { revision, value } = await this.latest(key);
    return value === null ? null : { value, revision };
  }

  /**
   * The value that the bucket's leader has under any key that was found. @throws PlatformError `service-unavailable`
   */
  async latest(key: string): Promise<LatestSnapshot<Value>> {
    const { broker, bucket, codec } = this.#options;
    const message = await readLatest(broker, bucketStream(bucket), foundKeySubject(bucket, key));
    const revision = message?.sequence ?? 0;
    // The trace of a removed key has no body, and a value always has one.
    if (message === null || message.body.byteLength === 0) return { value: null, isAbsent: true, revision };
    const reading = decodeSnapshot(codec, key, message.body);
    if (reading.kind === 'value') return { value: reading.value, isAbsent: false, revision };
    broker.noteUnreadable({ place: bucketPlace(bucket), key, reason: reading.reason });
    return { value: null, isAbsent: false, revision };
  }

  /**
   * @param expectedRevision the version that is to be replaced, 0 for none ever; absent: whatever is there
   * @returns the new revision, or null when another version is there
   * @throws PlatformError `service-unavailable` when it is not known whether it was written: write again
   */
  async put(key: string, value: Value, expectedRevision?: number): Promise<number | null> {
    return this.#publish(bucketKeySubject(this.#options.bucket, key), {
      body: encodeSnapshot(this.#options.codec, value),
      ...(expectedRevision === undefined ? {} : { expectedSequence: expectedRevision }),
    });
  }

  /**
   * Of any key that was found, also one that nobody should have written. Absent is success.
   *
   * @param expectedRevision as for `put`
   * @returns false when another version is there
   * @throws PlatformError `service-unavailable` when it is not known whether it was done
   */
  async delete(key: string, expectedRevision?: number): Promise<boolean> {
    const headers = { [OPERATION_HEADER]: PURGED, [BROKER_HEADERS.rollup]: 'sub' };
    const revision = await this.#publish(foundKeySubject(this.#options.bucket, key), {
      body: '',
      headers,
      ttlMs: REMOVED_KEY_MARKER_MS,
      ...(expectedRevision === undefined ? {} : { expectedSequence: expectedRevision }),
    });
    return revision !== null;
  }

  /** Every key that has a value. */
  async keys(): Promise<readonly string[]> {
    const { broker, bucket, clock } = this.#options;
    const keys: string[] = [];
    await scanStream({
      broker,
      clock,
      stream: bucketStream(bucket),
      onMessage: ({ subject, headers }) => {
        if (headers?.has(OPERATION_HEADER) !== true) keys.push(bucketKeyOf(bucket, subject));
      },
    });
    return keys;
  }

  async #publish(subject: string, publication: Omit<Publication, 'subject'>): Promise<number | null> {
    const outcome = await publishMessage(this.#options.broker, { ...publication, subject });
    if (outcome.kind === 'unknown') throw brokerUnavailable(outcome.cause);
    return outcome.kind === 'stored' ? outcome.sequence : null;
  }
}
