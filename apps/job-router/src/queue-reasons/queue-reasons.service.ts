import { explainQueue, tallyWorkers, type Job, type QueueExplanation } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import type { JobFeed } from '../job-view/job-feed.port.js';
import type { JobView } from '../job-view/job-view.service.js';
import type { ControlPulse } from './control-pulse.port.js';

/** `queue` of a job that waits, as callers read it. */
export interface QueueBody extends Omit<QueueExplanation, 'sinceMs'> {
  /** ISO 8601. */
  readonly since: string;
}

/** What is needed of a job to say why it waits. */
export type QueuedJob = Pick<
  Job,
  'attempt' | 'endpointId' | 'id' | 'lowPriority' | 'notBeforeMs' | 'queuedAtMs' | 'state'
>;

export interface QueueReasonsOptions {
  readonly view: Pick<JobView, 'demand' | 'positionOf'>;
  readonly feed: Pick<JobFeed, 'isWhole'>;
  readonly directory: Pick<EndpointDirectory, 'staffing'>;
  readonly pulse: ControlPulse;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Says why jobs wait, from memory alone: nobody is asked, so it can be said of each job of a list. */
export class QueueReasons {
  readonly #options: QueueReasonsOptions;

  constructor(options: QueueReasonsOptions) {
    this.#options = options;
  }

  /** Null for a job that does not wait. */
  of(job: QueuedJob): QueueBody | null {
    if (job.state !== 'IN_QUEUE') return null;
    const { clock, directory, feed, pulse, view } = this.#options;
    const nowMs = clock.nowMs();
    const { endpointId, id: jobId, lowPriority, queuedAtMs } = job;
    const { assignment, workersMax } = directory.staffing(endpointId);
    const { endedLastMinute, executionMsLastMinute, running } = view.demand(endpointId, nowMs);
    const { sinceMs, ...explanation } = explainQueue(
      {
        job,
        position: feed.isWhole ? view.positionOf({ endpointId, jobId, queuedAtMs }, lowPriority) : null,
        workersMax,
        workers: tallyWorkers(assignment?.workers ?? []),
        outlook: assignment?.outlook ?? null,
        running,
        endedLastMinute,
        executionMsLastMinute,
        controlHeardAtMs: pulse.heardAtMs,
      },
      nowMs,
    );
    return { ...explanation, since: new Date(sinceMs).toISOString() };
  }
}
