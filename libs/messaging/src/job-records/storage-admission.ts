import { PlatformError } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { JOB_SHARDS } from '../topology/shards.js';
import { blobStream, recordStream } from '../topology/subjects.js';

export interface StorageAdmissionOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly intervalMs?: number;
  readonly onError: (error: unknown) => void;
}

/** Refuses what callers bring while there is still room for what the accepted jobs have to write. */
export interface Admission {
  /**
   * @param bytes about what is to be written
   * @throws PlatformError `service-unavailable` naming the store
   */
  admit(stream: string, bytes: number): void;
}

/**
 * A full stream refuses every record that is larger than the one it replaces, so it would refuse the results of the
 * jobs that fill it. Therefore new jobs are refused earlier, and the rest is kept for those that were accepted.
 */
export const ADMISSION_FILL_MAX = 0.85;

const INTERVAL_DEFAULT_MS = 2_000;
const RETRY_AFTER_SECONDS = 10;

/** What callers fill: records of jobs, and inputs too large for them. */
const STORES = [
  { title: 'The store of job records', streamOf: recordStream },
  { title: 'The store of large inputs and outputs', streamOf: blobStream },
] as const;

interface Room {
  readonly store: string;
  readonly takenBytes: number;
  /** 0: as much as comes. */
  readonly maxBytes: number;
  /** Admitted here since the stream was looked at. */
  admittedBytes: number;
}

/** Watches how full the streams are: one question per stream and interval, none per job. */
export class StorageAdmission implements Admission {
  readonly #options: StorageAdmissionOptions;
  readonly #rooms = new Map<string, Room>();
  #stop: (() => void) | undefined;
  #isLooking = false;

  constructor(options: StorageAdmissionOptions) {
    this.#options = options;
  }

  /** Looks once, then at every interval until `stop`. */
  async start(): Promise<void> {
    const { clock, intervalMs, onError } = this.#options;
    this.#stop ??= clock.every(intervalMs ?? INTERVAL_DEFAULT_MS, () => {
      this.look().catch(onError);
    });
    await this.look();
  }

  stop(): void {
    this.#stop?.();
  }

  /** Share of each stream's room that is taken, 0 to 1; for metrics. */
  fill(): ReadonlyMap<string, number> {
    return new Map([...this.#rooms].map(([stream, room]) => [stream, fillOf(room)]));
  }

  /** What takes nothing new at the moment, in words; empty while everything does. */
  get refusing(): readonly string[] {
    const full = [...this.#rooms.values()].filter((room) => fillOf(room) >= ADMISSION_FILL_MAX);
    return [...new Set(full.map(({ store }) => store))].map(refusal);
  }

  admit(stream: string, bytes: number): void {
    const room = this.#rooms.get(stream);
    if (room === undefined) return;
    if (fillOf(room) >= ADMISSION_FILL_MAX) {
      throw new PlatformError('service-unavailable', refusal(room.store), { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    room.admittedBytes += bytes;
  }

  /** What was seen last stays in force while the broker does not answer. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      for (const { title, streamOf } of STORES) {
        for (let shard = 0; shard < JOB_SHARDS; shard += 1) await this.#lookAt(title, streamOf(shard));
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookAt(store: string, stream: string): Promise<void> {
    const { config, state } = await this.#options.broker.manager.streams.info(stream);
    const maxBytes = Math.max(0, config.max_bytes);
    this.#rooms.set(stream, { store, takenBytes: state.bytes, maxBytes, admittedBytes: 0 });
  }
}

const fillOf = ({ takenBytes, admittedBytes, maxBytes }: Room): number =>
  maxBytes > 0 ? (takenBytes + admittedBytes) / maxBytes : 0;

const refusal = (store: string): string =>
  `${store} is almost full and takes no new jobs until others have ended or expired.`;
