import { PlatformError } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { JOB_SHARDS } from '../topology/shards.js';
import { recordStream } from '../topology/subjects.js';
import type { Admission } from './jetstream-job-records.js';

export interface StorageAdmissionOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly intervalMs?: number;
  readonly onError: (error: unknown) => void;
}

/**
 * A full stream refuses every record that is larger than the one it replaces, so it would refuse the results of the
 * jobs that fill it. Therefore new jobs are refused earlier, and the rest is kept for those that were accepted.
 */
export const ADMISSION_FILL_MAX = 0.85;

const INTERVAL_DEFAULT_MS = 2_000;
const RETRY_AFTER_SECONDS = 10;

/** Watches how full the record streams are: one question per stream and interval, none per job. */
export class StorageAdmission implements Admission {
  readonly #options: StorageAdmissionOptions;
  readonly #fill = new Map<string, number>();
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
    return this.#fill;
  }

  admit(stream: string): void {
    if ((this.#fill.get(stream) ?? 0) < ADMISSION_FILL_MAX) return;
    throw new PlatformError(
      'service-unavailable',
      'The job store is almost full and takes no new jobs until others have ended or expired.',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }

  /** What was seen last stays in force while the broker does not answer. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      for (let shard = 0; shard < JOB_SHARDS; shard += 1) {
        const { config, state } = await this.#options.broker.manager.streams.info(recordStream(shard));
        this.#fill.set(config.name, config.max_bytes > 0 ? state.bytes / config.max_bytes : 0);
      }
    } finally {
      this.#isLooking = false;
    }
  }
}
