import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '@berth/domain';
import type { SnapshotWriter } from '@berth/messaging';
import type { SnapshotTruth } from './snapshot-truth.port.js';

/** Each lost try means that another process has published the key meanwhile; so many in a row are no coincidence. */
const TRIES_MAX = 32;
const RETRY_AFTER_SECONDS = 1;

export type Alignment = 'written' | 'removed' | 'same';

export interface AlignedBucketOptions<Value> {
  readonly truth: SnapshotTruth<Value>;
  readonly writer: Pick<SnapshotWriter<Value>, 'delete' | 'latest' | 'put'>;
}

/** One bucket as its rows say; the only one who writes in it. Any number of processes may do so at one time. */
export class AlignedBucket<Value> {
  readonly #options: AlignedBucketOptions<Value>;

  constructor(options: AlignedBucketOptions<Value>) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.truth.bucket;
  }

  /** The values that it should hold, by key. */
  wanted(): Promise<ReadonlyMap<string, Value>> {
    return this.#options.truth.all();
  }

  /** Shows that the bucket's leader answers. @throws PlatformError `service-unavailable` */
  async probe(key: string): Promise<void> {
    await this.#options.writer.latest(key);
  }

  /**
   * Makes one key what its rows say. The rows are read after the bucket, and the write names what was in it: so it holds
   * what is at least as new as all that was there, and where another process has published meanwhile it loses, and looks
   * again. That goes for a write that was sent long ago and arrives only now, too.
   *
   * @throws PlatformError `service-unavailable` when it is not known to be done
   */
  async align(key: string): Promise<Alignment> {
    const { truth, writer } = this.#options;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const present = await writer.latest(key);
      const value = await truth.one(key);
      if (value === null ? present.isAbsent : isDeepStrictEqual(present.value, value)) return 'same';
      if (value === null) {
        if (await writer.delete(key, present.revision)) return 'removed';
      } else if ((await writer.put(key, value, present.revision)) !== null) return 'written';
    }
    throw new PlatformError('service-unavailable', 'Too many changes of this at one time; try again.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
