import { PlatformError, isEnded, jobKeyOf, type Job, type JobKey, type RawJson } from '@berth/domain';
import { loadPayload, readJob, type JobStore } from '@berth/jobs';
import { jobNotFound } from '../ids.js';
import { patiently } from '../patiently.js';
import type { QueueReasons } from '../queue-reasons/queue-reasons.service.js';
import type { Wait } from '../wait.js';
import { statusBody } from './job-body.js';
import type { JobNews, JobNotices, JobWatch } from './job-notices.port.js';

/** Callers held at one time in this router; each costs a subscription and a timer. */
const WAITS_MAX = 20_000;

/** How often a job that is waited for is looked at without any notice. */
const LOOK_INTERVAL_MS = 2_000;

/** Reads jobs for callers, and holds them until a job has ended. */
export class JobReader {
  readonly #store: JobStore;
  readonly #notices: JobNotices;
  readonly #queueReasons: Pick<QueueReasons, 'of'>;
  readonly #released = new AbortController();
  #waits = 0;

  constructor(store: JobStore, notices: JobNotices, queueReasons: Pick<QueueReasons, 'of'>) {
    this.#store = store;
    this.#notices = notices;
    this.#queueReasons = queueReasons;
  }

  /** Callers that are held now, or come later, are not held any longer: this router stops. */
  release(): void {
    this.#released.abort();
  }

  get waits(): number {
    return this.#waits;
  }

  /** @throws PlatformError `job-not-found`, `service-unavailable` */
  async read(key: JobKey): Promise<Job> {
    const job = await patiently(this.#store, () => readJob(this.#store, key));
    if (job === null) throw jobNotFound();
    return job;
  }

  /** The body of `/status`, with the result or the last progress as its worker wrote it, or with why it waits. */
  async statusBody(job: Job): Promise<RawJson> {
    const { output } = job;
    if (output === null) return this.#statusText(job, null);
    const json = await patiently(this.#store, () => loadPayload(this.#store.blobs, jobKeyOf(job), output));
    // The parts outlive the record, so where they are gone the job has gone between the two reads.
    if (json === null) throw jobNotFound();
    return this.#statusText(job, json);
  }

  /** To be disposed once. @throws PlatformError `service-unavailable` when too many are held already */
  watch(key: JobKey, news: JobNews = 'any'): JobWatch {
    if (this.#waits >= WAITS_MAX) {
      throw new PlatformError(
        'service-unavailable',
        'Too many requests wait here for a job to end; ask for its status.',
        {
          retryAfterSeconds: 1,
        },
      );
    }
    const watch = this.#notices.watch(key, news);
    this.#waits += 1;
    return {
      wait: (timeoutMs, signal) => {
        const ends = [this.#released.signal, ...(signal === undefined ? [] : [signal])];
        return watch.wait(timeoutMs, AbortSignal.any(ends));
      },
      dispose: () => {
        this.#waits -= 1;
        watch.dispose();
      },
    };
  }

  /** True when nobody needs to be held any longer. */
  isOver({ signal }: Wait): boolean {
    return signal.aborted || this.#released.signal.aborted;
  }

  /**
   * Waits until the job has ended, the wait is over, or the caller has gone; returns the job as it is then. News of the
   * `end` are enough.
   *
   * @throws PlatformError `job-not-found` as soon as the job is purged or its life is over; `service-unavailable`
   */
  async awaitEnd(key: JobKey, watch: JobWatch, wait: Wait): Promise<Job> {
    const { clock } = this.#store;
    const deadlineMs = clock.monotonicMs() + wait.ms;
    for (;;) {
      const job = await this.read(key);
      const leftMs = deadlineMs - clock.monotonicMs();
      if (isEnded(job.state) || leftMs <= 0 || this.isOver(wait)) return job;
      const goneInMs = Math.max(1, job.expiresAtMs - clock.nowMs());
      await watch.wait(Math.min(LOOK_INTERVAL_MS, leftMs, goneInMs), wait.signal);
    }
  }

  #statusText(job: Job, output: RawJson | null): RawJson {
    return statusBody(job, { output, queue: this.#queueReasons.of(job) }, this.#store.clock.nowMs());
  }
}
