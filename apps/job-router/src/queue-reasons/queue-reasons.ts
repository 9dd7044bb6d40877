import type { ListedQueue } from '@berth/contracts';
import { explainQueue, tallyWorkers, type EndpointId, type JobSight, type QueueExplanation } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { ControlPulse, EndpointDirectory } from '../directory/index.js';

/** `queue` of a job that waits, as callers read it. */
export interface QueueBody extends Omit<QueueExplanation, 'sinceMs'> {
  /** ISO 8601. */
  readonly since: string;
}

export interface QueueReasonsOptions {
  readonly directory: Pick<EndpointDirectory, 'staffing'>;
  readonly pulse: Pick<ControlPulse, 'heardAtMs'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Says why jobs wait, from what was told of them and from memory, so that it can be said of each job of a list. */
export class QueueReasons {
  readonly #options: QueueReasonsOptions;

  constructor(options: QueueReasonsOptions) {
    this.#options = options;
  }

  /** Null for a job that does not wait. */
  ofSight({ queue, ...job }: JobSight): QueueBody | null {
    return this.of(job.endpointId, queue === null ? null : { ...job, ...queue });
  }

  /** @param queue null for a job that does not wait, as is what is returned then */
  of(endpointId: EndpointId, queue: ListedQueue | null): QueueBody | null {
    if (queue === null) return null;
    const { clock, directory, pulse } = this.#options;
    const nowMs = clock.nowMs();
    const { assignment, workersMax } = directory.staffing(endpointId);
    const { attempt, isLowPriority, notBeforeMs, queuedAtMs } = queue;
    const { sinceMs, ...explanation } = explainQueue(
      {
        job: { attempt, isLowPriority, notBeforeMs, queuedAtMs },
        position: queue.position,
        running: queue.running,
        endedLastMinute: queue.endedLastMinute,
        executionMsLastMinute: queue.executionMsLastMinute,
        workersMax,
        workers: tallyWorkers(assignment?.workers ?? []),
        outlook: assignment?.outlook ?? null,
        controlHeardAtMs: pulse.heardAtMs,
      },
      nowMs,
    );
    return { ...explanation, since: new Date(sinceMs).toISOString() };
  }
}
