import type { BrokerModel } from '@berth/testing';
import type { JobView } from '../../src/job-view/job-view.service.js';

/** Tells the view what its feed would have told of the records that are there. */
export function showRecords(broker: BrokerModel, view: JobView): void {
  for (const { job, sequence } of broker.liveRecords()) {
    view.apply({
      endpointId: job.endpointId,
      jobId: job.id,
      recordSequence: sequence,
      state: job.state,
      attempt: job.attempt,
      charged: job.charged,
      isLowPriority: job.lowPriority,
      hasWebhook: job.webhook !== null,
      createdAtMs: job.createdAtMs,
      queuedAtMs: job.queuedAtMs,
      notBeforeMs: job.notBeforeMs,
      expiresAtMs: job.expiresAtMs,
      startedAtMs: job.current?.startedAtMs ?? null,
      endedAtMs: job.endedAtMs,
      deadlineAtMs: job.current?.deadlineAtMs ?? null,
      hostId: job.current?.hostId ?? null,
      token: job.current?.token ?? null,
    });
  }
}
