import { attemptStepName, jobAttributes } from '@berth/contracts';
import type { Traces } from '@berth/telemetry';
import type { HostAttempt, StopReason } from './attempt.js';

/** Begins the step of an attempt that this host has now. One that the journal brings back begins anew, under its old id. */
export function beginStep(attempt: HostAttempt, traces: Pick<Traces, 'step'>): void {
  attempt.step = traces.step(attempt.traceparent, { name: attemptStepName(attempt.ref) });
}

/** The first word about how it ended counts. */
export function endStep({ ref, step, workerId }: HostAttempt, end: StepEnd): void {
  const { attempt, endpointId, jobId } = ref;
  step?.end({
    name: 'process job',
    kind: 'consumer',
    attributes: jobAttributes({ attempt, endpointId, jobId, workerId }),
    error: end === 'completed' ? null : end,
  });
}

type StepEnd = 'completed' | 'failed' | 'timed-out' | 'lost' | 'dropped' | StopReason;
