import {
  encodeJson,
  isEnded,
  type EndpointId,
  type JobId,
  type JobKey,
  type JobSight,
  type RawJson,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type {
  JobBrief,
  Jobs,
  JobWatch,
  JobsAccepted,
  JobsRequest,
  StreamChunk,
  Submission,
} from '../../src/edge/jobs.port.js';

/** One job of endpoint `ep`, queued at the start of a `ManualClock`; it lives for an hour. */
export const KEY: JobKey = { endpointId: 'ep' as EndpointId, jobId: 'job' as JobId };
const QUEUED_AT_MS = 1_750_000_000_000;
const LIFE_MS = 3_600_000;

export const jobSight = (changes: Partial<JobSight> = {}): JobSight => ({
  ...KEY,
  state: 'IN_QUEUE',
  attempt: 1,
  queuedAtMs: QUEUED_AT_MS,
  notBeforeMs: QUEUED_AT_MS,
  endedAtMs: null,
  expiresAtMs: QUEUED_AT_MS + LIFE_MS,
  isLowPriority: false,
  delayTimeMs: 0,
  executionTimeMs: 0,
  retries: 0,
  workerId: null,
  error: null,
  chunks: 0,
  output: null,
  queue: null,
  ...changes,
});

/** What rooms over `Jobs` are shown of jobs, as the test wants it. Nothing happens by itself but the end of a life. */
export class ScriptedJobs implements Pick<Jobs, 'cancel' | 'chunks' | 'find' | 'outputOf' | 'submit' | 'watch'> {
  readonly submissions: Submission[] = [];
  /** How often a job was looked at. */
  finds = 0;
  /** What a submit waits for, once its ids are told. */
  storing: Promise<void> = Promise.resolve();
  readonly #clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly #sights = new Map<JobId, JobSight>();
  readonly #chunks = new Map<number, StreamChunk[]>();
  readonly #bells = new Set<Bell>();

  constructor(clock: Pick<Clock, 'nowMs' | 'sleep'>) {
    this.#clock = clock;
  }

  /** The job as it is now, over what was shown of it before. */
  show(changes: Partial<JobSight>): void {
    const sight = jobSight({ ...this.#sights.get(changes.jobId ?? KEY.jobId), ...changes });
    this.#sights.set(sight.jobId, sight);
  }

  /** The next chunk of an attempt. */
  stream(value: object, attempt = 1): void {
    const chunks = this.#chunks.get(attempt) ?? [];
    this.#chunks.set(attempt, [...chunks, { index: chunks.length, body: encodeJson(value) }]);
  }

  /** Whoever watches hears of it. */
  ring(): void {
    for (const bell of this.#bells) bell.ring();
  }

  /** Watches that nobody has given back. */
  get watches(): number {
    return this.#bells.size;
  }

  stateOf(jobId: JobId): JobSight['state'] | undefined {
    return this.#sights.get(jobId)?.state;
  }

  async submit({ endpoint, onFirstId, size, submissionOf }: JobsRequest): Promise<JobsAccepted> {
    const ids = Array.from({ length: size }, (_, item) => `job-${this.submissions.length + item}` as JobId);
    onFirstId?.(ids[0] as JobId);
    this.submissions.push(...ids.map((id, item) => submissionOf(item, id)));
    await this.storing;
    for (const jobId of ids) this.show({ endpointId: endpoint.id, jobId });
    return { outcomes: ids.map((id) => ({ kind: 'accepted', id })), isReplayed: false };
  }

  async find({ jobId }: JobKey): Promise<JobSight | null> {
    this.finds += 1;
    const sight = this.#sights.get(jobId);
    return sight === undefined || sight.expiresAtMs <= this.#clock.nowMs() ? null : sight;
  }

  async outputOf({ output }: JobSight): Promise<RawJson | null> {
    return output?.kind === 'inline' ? output.json : null;
  }

  async chunks({ attempt, fromIndex, limit }: Parameters<Jobs['chunks']>[0]): Promise<readonly StreamChunk[]> {
    return (this.#chunks.get(attempt) ?? []).slice(fromIndex, fromIndex + limit);
  }

  async cancel({ jobId }: JobKey): Promise<JobBrief> {
    const { state } = jobSight(this.#sights.get(jobId));
    if (!isEnded(state)) this.show({ jobId, state: 'CANCELLED', endedAtMs: this.#clock.nowMs() });
    return { jobId, state: isEnded(state) ? state : 'CANCELLED' };
  }

  watch(): JobWatch {
    const bell = new Bell(this.#clock);
    this.#bells.add(bell);
    return {
      wait: (timeoutMs, signal) => bell.wait(timeoutMs, signal),
      dispose: () => {
        this.#bells.delete(bell);
      },
    };
  }
}

class Bell {
  readonly #clock: Pick<Clock, 'sleep'>;
  #rung = new AbortController();

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung.abort();
  }

  async wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    const { signal: rung } = this.#rung;
    await this.#clock.sleep(timeoutMs, AbortSignal.any([rung, ...(signal === undefined ? [] : [signal])]));
    if (rung.aborted) this.#rung = new AbortController();
    return rung.aborted;
  }
}
