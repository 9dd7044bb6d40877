import type { Attempt, StopReason } from '../../job-client/index.js';

/** A job that a worker was given and has not let go. Instants are of the monotonic clock, in ms. */
export interface HeldJob {
  readonly attempt: Attempt;
  readonly deliveredAtMs: number;
  /** An earlier life of the agent delivered it. */
  readonly isAdopted: boolean;
  /** True once a ping has named it. */
  wasListed: boolean;
  /** True once something of it was posted. */
  wasPosted: boolean;
  /** Since when the worker's own words leave it out. */
  doubtedAtMs: number | null;
  stop: { readonly reason: StopReason; readonly sinceMs: number } | null;
  /** How often its worker was made to ask for jobs anew since the stop. */
  refreshes: number;
}

/** A ping or take that was on its way when the job was delivered does not know it yet. */
const FRESH_MS = 2_000;
/** Only SDKs with a single take loop can be told to stop, so their next take knows what the one before it brought. */
const STOP_FRESH_MS = 500;
/** Without a ping to confirm it, a worker that says it is idle is believed after a time in which one should have come. */
const IDLE_BELIEVED_MS = 12_000;
/** Two pings lie further apart than this; a doubt and its confirmation must not be the same ping. */
const CONFIRM_MS = 1_000;

/**
 * Which jobs a worker holds, and whether what it says agrees. A worker whose main loop is blocked by a handler pings
 * all the same without naming a job that it could not read yet, so silence about a job counts only when the job had
 * been named before, or the main loop has spoken since.
 */
export class HeldJobs {
  readonly #jobs = new Map<string, HeldJob>();
  #loopSeenAtMs = Number.NEGATIVE_INFINITY;
  #mainSeenAtMs = Number.NEGATIVE_INFINITY;
  #namesJobs = false;

  get size(): number {
    return this.#jobs.size;
  }

  get(jobId: string): HeldJob | undefined {
    return this.#jobs.get(jobId);
  }

  values(): readonly HeldJob[] {
    return [...this.#jobs.values()];
  }

  /** When the last of them would time out; null without any. */
  get latestDeadlineAtMs(): number | null {
    const deadlines = this.values().map(({ attempt }) => attempt.executionEndsAtMs);
    return deadlines.length === 0 ? null : Math.max(...deadlines);
  }

  /** Those that the worker shall let go. */
  stoppingIds(): readonly string[] {
    return this.values().flatMap(({ attempt, stop }) => (stop === null ? [] : [attempt.ref.jobId]));
  }

  add(attempt: Attempt, nowMs: number, { isAdopted = false } = {}): HeldJob {
    const fresh = { wasListed: false, wasPosted: false, doubtedAtMs: null, stop: null, refreshes: 0 };
    const job: HeldJob = { attempt, deliveredAtMs: nowMs, isAdopted, ...fresh };
    this.#jobs.set(attempt.ref.jobId, job);
    return job;
  }

  /** False when another attempt of the job is held, or none. */
  remove(attempt: Attempt): boolean {
    const isHeld = this.#jobs.get(attempt.ref.jobId)?.attempt === attempt;
    return isHeld && this.#jobs.delete(attempt.ref.jobId);
  }

  /** When the worker last did what its pings cannot do: it asked, posted, or had done with a job. */
  get mainSeenAtMs(): number {
    return this.#mainSeenAtMs;
  }

  /** The worker's main loop runs: it has asked for a job or for stops. */
  noteLoop(nowMs: number): void {
    this.#loopSeenAtMs = nowMs;
    this.noteMain(nowMs);
  }

  /** It has posted, or had done with a job: what was delivered meanwhile may not have been read for that long. */
  noteMain(nowMs: number): void {
    this.#mainSeenAtMs = nowMs;
  }

  /** A ping that names these jobs. Returns the held ones that the worker has lost or let go. */
  notePing(listed: ReadonlySet<string>, nowMs: number): readonly HeldJob[] {
    return this.values().filter((job) => {
      if (listed.has(job.attempt.ref.jobId)) {
        job.wasListed = true;
        this.#namesJobs = true;
        job.doubtedAtMs = null;
        return false;
      }
      const isTelling = job.wasListed || this.#loopSeenAtMs > job.deliveredAtMs;
      if (!isTelling || nowMs - job.deliveredAtMs < FRESH_MS) return false;
      return this.#isGone(job, nowMs, CONFIRM_MS);
    });
  }

  /** The worker asked for a job and said that it runs none. Returns the held ones that it has lost or let go. */
  noteIdle(nowMs: number): readonly HeldJob[] {
    return this.values().filter((job) => {
      const freshMs = job.stop === null ? FRESH_MS : STOP_FRESH_MS;
      return nowMs - job.deliveredAtMs >= freshMs && this.#isGone(job, nowMs, IDLE_BELIEVED_MS);
    });
  }

  /**
   * False while nothing that the worker said since shows that it has read the job. Pings that have never named any job
   * show as much as any call does: such a worker cannot tell.
   *
   * @param seenAtMs its last call
   */
  isHeard({ deliveredAtMs, wasListed, wasPosted }: HeldJob, seenAtMs: number): boolean {
    return (
      wasListed || wasPosted || this.#loopSeenAtMs > deliveredAtMs || (!this.#namesJobs && seenAtMs > deliveredAtMs)
    );
  }

  /** A job that was told to stop is let go at the first sign; any other needs a second. */
  #isGone(job: HeldJob, nowMs: number, confirmedAfterMs: number): boolean {
    if (job.stop !== null) return true;
    if (job.doubtedAtMs !== null && nowMs - job.doubtedAtMs >= confirmedAfterMs) return true;
    job.doubtedAtMs ??= nowMs;
    return false;
  }
}
