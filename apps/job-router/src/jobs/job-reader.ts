import type { FoundJob } from '@berth/contracts';
import { isEnded, type JobKey, type JobSight, type RawJson } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Traces } from '@berth/telemetry';
import { jobNotFound } from '../platform/index.js';
import type { FindOptions, JobNews, Jobs, JobWatch } from '../edge/index.js';
import type { QueueReasons } from '../queue-reasons/index.js';
import type { Wait } from './wait.js';
import type { HeldCalls } from './held-calls.js';
import { debugBody, statusBody } from './job-body.js';

/** How often a job that is waited for is looked at without any notice. */
const LOOK_INTERVAL_MS = 2_000;

export interface JobReaderOptions {
  readonly jobs: Pick<Jobs, 'find' | 'outputOf' | 'watch'>;
  readonly reasons: Pick<QueueReasons, 'ofSight'>;
  readonly held: HeldCalls;
  readonly traces: Pick<Traces, 'isOn'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>;
}

/** Reads jobs for callers, and holds them until a job has ended. */
export class JobReader {
  readonly #options: JobReaderOptions;
  readonly #released = new AbortController();

  constructor(options: JobReaderOptions) {
    this.#options = options;
  }

  /** Callers that are held now, or come later, are not held any longer: this router stops. */
  release(): void {
    this.#released.abort();
  }

  /** @throws PlatformError `job-not-found`, `service-unavailable` */
  async read(key: JobKey, options: FindOptions = {}): Promise<FoundJob> {
    const job = await this.#options.jobs.find(key, options);
    if (job === null) throw jobNotFound();
    return job;
  }

  /** The result or the last progress as its worker wrote it; null where there is none. @throws as `read` */
  async outputOf(job: JobSight): Promise<RawJson | null> {
    if (job.output === null) return null;
    const json = await this.#options.jobs.outputOf(job);
    // The parts outlive the job, so where they are gone the job has gone between the two reads.
    if (json === null) throw jobNotFound();
    return json;
  }

  /** The body of `/status`, with what the job has put out, or with why it waits. @throws as `read` */
  async statusBody(job: FoundJob): Promise<RawJson> {
    const { reasons, traces } = this.#options;
    const output = await this.outputOf(job);
    return statusBody(job, { output, queue: reasons.ofSight(job), debug: debugBody(job, traces) });
  }

  /** To be disposed. @throws PlatformError `limit-reached`, `service-unavailable` when too many are held already */
  watch(key: JobKey, news: JobNews = 'any'): JobWatch {
    const end = this.#options.held.begin(key.endpointId);
    const watch = this.#options.jobs.watch(key, news);
    return {
      wait: (timeoutMs, signal) => {
        const ends = [this.#released.signal, ...(signal === undefined ? [] : [signal])];
        return watch.wait(timeoutMs, AbortSignal.any(ends));
      },
      dispose: () => {
        end();
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
  async awaitEnd(key: JobKey, watch: JobWatch, wait: Wait): Promise<JobSight> {
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + wait.ms;
    for (;;) {
      const job = await this.read(key);
      const leftMs = deadlineMs - clock.monotonicMs();
      if (isEnded(job.state) || leftMs <= 0 || this.isOver(wait)) return job;
      const goneInMs = Math.max(1, job.expiresAtMs - clock.nowMs());
      await watch.wait(Math.min(LOOK_INTERVAL_MS, leftMs, goneInMs), wait.signal);
    }
  }
}
