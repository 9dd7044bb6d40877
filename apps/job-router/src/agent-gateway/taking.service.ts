import type { TakeReply, TakeRequest, TakenJob, WithdrawMessage } from '@berth/contracts';
import { jobTimes, retriesOf, type HostId, type Job } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import type { Dispatchers } from './dispatcher/dispatchers.service.js';

/** A worker that is not placed, or gets nothing new, is held this long at most, so that asking again costs little. */
const UNPLACED_HOLD_MS = 1_000;

export interface Taken {
  readonly reply: TakeReply;
  /** The jobs in the reply, to be given back if it reaches nobody. */
  readonly jobs: readonly Job[];
}

/** Answers workers that ask for jobs. */
export class Taking {
  readonly #directory: EndpointDirectory;
  readonly #dispatchers: Dispatchers;
  readonly #clock: Clock;

  constructor(directory: EndpointDirectory, dispatchers: Dispatchers, clock: Clock) {
    this.#directory = directory;
    this.#dispatchers = dispatchers;
    this.#clock = clock;
  }

  /** @throws PlatformError `service-unavailable` */
  async take(hostId: HostId, { endpointId, workerId, slots, waitMs }: TakeRequest): Promise<Taken> {
    const endpoint = await this.#directory.findEndpoint(endpointId);
    const placement =
      endpoint === null ? 'not-placed' : await this.#directory.placement(endpointId, { hostId, workerId });
    if (placement !== 'placed' || (await this.#isDraining(hostId))) {
      await this.#clock.sleep(Math.min(UNPLACED_HOLD_MS, waitMs));
      return { reply: { kind: placement === 'not-placed' ? 'not-placed' : 'none' }, jobs: [] };
    }
    const jobs = await this.#dispatchers.take(endpointId, { hostId, workerId, slots, waitMs });
    if (jobs.length === 0) return { reply: { kind: 'none' }, jobs };
    const nowMs = this.#clock.nowMs();
    return { reply: { kind: 'jobs', jobs: jobs.flatMap((job) => takenJob(job, nowMs)) }, jobs };
  }

  /** Ends what this router holds for a worker that takes no more. */
  withdraw(hostId: HostId, { endpointId, workerId }: WithdrawMessage): void {
    this.#dispatchers.withdraw(endpointId, { hostId, workerId });
  }

  /** Puts jobs back into the queue whose answer reached nobody. */
  giveBack(jobs: readonly Job[]): Promise<void> {
    return this.#dispatchers.giveBack(jobs);
  }

  async #isDraining(hostId: HostId): Promise<boolean> {
    return (await this.#directory.findHost(hostId))?.isDraining === true;
  }
}

function takenJob(job: Job, nowMs: number): readonly TakenJob[] {
  if (job.current === null) return [];
  return [
    {
      endpointId: job.endpointId,
      jobId: job.id,
      attempt: job.attempt,
      token: job.current.token,
      input: job.input,
      extras: job.extras,
      executionTimeoutMs: Math.max(1, job.current.deadlineAtMs - nowMs),
      expiresInMs: Math.max(1, job.expiresAtMs - nowMs),
      delayTimeMs: jobTimes(job, nowMs).delayTime,
      retries: retriesOf(job),
      traceparent: job.traceparent,
    },
  ];
}
