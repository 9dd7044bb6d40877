import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { readLatest } from '../broker/read-message.js';
import { StreamTail } from '../broker/stream-tail.js';
import { UnreadableMessageError } from '@berth/domain';
import { isSubjectToken } from '../topology/subject-token.js';
import { bucketKeyOf, bucketKeySubject, bucketPlace, bucketStream } from '../topology/buckets.js';
import { decodeSnapshot, type SnapshotCodec } from './snapshot-codec.js';

export interface SnapshotDirectoryOptions<Value> {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly bucket: string;
  readonly codec: SnapshotCodec<Value>;
  /**
   * A value that cannot be read, as an `UnreadableMessageError` (it is then as good as absent), a listener that threw, or
   * an interruption.
   */
  readonly onError: (error: unknown) => void;
}

/** `value` is null when the key was removed, or holds what cannot be read. */
export type SnapshotListener<Value> = (key: string, value: Value | null) => void;

interface Entry<Value> {
  /** Null: removed, or not readable. */
  readonly value: Value | null;
  readonly isUnreadable: boolean;
  readonly revision: number;
  readonly round: number;
}

/**
 * A reader's side of a bucket: every value in memory, kept up to date by watching. After an interruption everything is
 * read again, so a removal that happened meanwhile is noticed too.
 */
export class SnapshotDirectory<Value> {
  readonly #options: SnapshotDirectoryOptions<Value>;
  readonly #tail: StreamTail;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #listeners = new Set<SnapshotListener<Value>>();
  #round = 0;
  readonly #loaded: Promise<void>;
  #markLoaded: () => void = () => undefined;

  constructor(options: SnapshotDirectoryOptions<Value>) {
    this.#options = options;
    this.#loaded = new Promise((resolve) => {
      this.#markLoaded = resolve;
    });
    const { broker, clock, bucket } = options;
    this.#tail = new StreamTail({
      broker,
      clock,
      stream: bucketStream(bucket),
      isHeadersOnly: false,
      start: 'everything',
      onStart: (isSameStream) => {
        this.#round += 1;
        if (!isSameStream) this.#forgetRevisions();
      },
      onMessage: ({ subject, sequence, body }) => this.#apply(bucketKeyOf(bucket, subject), sequence, body),
      onCaughtUp: () => {
        this.#forgetUntold();
        this.#markLoaded();
      },
      onInterrupted: (reason) => options.onError(new Error(`bucket ${bucket}: ${reason}`)),
    });
  }

  /** Resolves when everything that is in the bucket has been loaded once. */
  async start(): Promise<void> {
    this.#tail.start();
    await this.#loaded;
  }

  async stop(): Promise<void> {
    await this.#tail.stop();
  }

  /** From memory. */
  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value ?? undefined;
  }

  /**
   * From memory, or from the bucket's leader when memory has nothing: what somebody has just written is found.
   *
   * @throws PlatformError `service-unavailable` when the leader does not answer
   */
  async getFresh(key: string): Promise<Value | undefined> {
    return this.get(key) ?? this.refresh(key);
  }

  /**
   * From the bucket's leader, whatever memory has: for who knows that memory may be out of date.
   *
   * @throws PlatformError `service-unavailable` when the leader does not answer
   */
  async refresh(key: string): Promise<Value | undefined> {
    if (!isSubjectToken(key)) return undefined;
    const { broker, bucket } = this.#options;
    const message = await readLatest(broker, bucketStream(bucket), bucketKeySubject(bucket, key));
    // The value that memory still has then is forgotten when the watch says so: it may know of something newer than
    // this answer.
    if (message === null) return undefined;
    this.#apply(key, message.sequence, message.body);
    return this.get(key);
  }

  /** Every key that has a value, with it. */
  *entries(): IterableIterator<readonly [string, Value]> {
    for (const [key, { value }] of this.#entries) if (value !== null) yield [key, value];
  }

  /** Every key that holds something that cannot be read. */
  *unreadable(): IterableIterator<string> {
    for (const [key, { isUnreadable }] of this.#entries) if (isUnreadable) yield key;
  }

  /** Told of each change from now on, until the returned function is called. */
  onChange(listener: SnapshotListener<Value>): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #apply(key: string, revision: number, body: Uint8Array): void {
    const known = this.#entries.get(key);
    const round = this.#round;
    if (known !== undefined && known.revision >= revision) {
      this.#entries.set(key, { ...known, round });
      return;
    }
    const isRemoved = body.byteLength === 0;
    const value = isRemoved ? null : this.#decode(key, body);
    const isUnreadable = !isRemoved && value === null;
    this.#entries.set(key, { value, isUnreadable, revision, round });
    // The last writer of the key must hear of it even where that write itself was never told.
    if (isUnreadable || value !== null || (known?.value ?? null) !== null) this.#tell(key, value);
  }

  #decode(key: string, body: Uint8Array): Value | null {
    const { broker, bucket, codec, onError } = this.#options;
    const reading = decodeSnapshot(codec, key, body);
    if (reading.kind === 'value') return reading.value;
    const unreadable = { place: bucketPlace(bucket), key, reason: reading.reason };
    broker.noteUnreadable(unreadable);
    onError(new UnreadableMessageError(`bucket ${bucket}: ${key} cannot be read`, unreadable));
    return null;
  }

  /** Another stream counts anew, so nothing it says may be taken for old. */
  #forgetRevisions(): void {
    for (const [key, entry] of this.#entries) this.#entries.set(key, { ...entry, revision: 0 });
  }

  #forgetUntold(): void {
    for (const [key, { value, round }] of this.#entries) {
      if (round === this.#round) continue;
      this.#entries.delete(key);
      if (value !== null) this.#tell(key, null);
    }
  }

  #tell(key: string, value: Value | null): void {
    for (const listener of this.#listeners) {
      try {
        listener(key, value);
      } catch (error) {
        // One listener's fault must not keep the others, or the directory itself, from what has changed.
        this.#options.onError(error);
      }
    }
  }
}
