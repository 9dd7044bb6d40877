import type { EndpointSnapshot } from '@berth/contracts';
import { EXECUTION_TIMEOUT_DEFAULT_MS, retentionMs, type JobId } from '@berth/domain';
import type { SecretBox } from '@berth/secrets';
import type { Submission } from '../edge/index.js';
import { type JobRequest, sealExtras } from '../request-bodies/index.js';

/** The data that decide about a job beside its request. */
export interface SubmissionFrame {
  readonly endpoint: EndpointSnapshot;
  /** How long its caller is held; null: not at all. */
  readonly waitMs: number | null;
  readonly traceparent: string | null;
  readonly secrets: SecretBox;
}

/** A checked request as it is stored. The id comes first, since what is secret is sealed for it. */
export function toSubmission(request: JobRequest, frame: SubmissionFrame, id: JobId): Submission {
  const { endpoint, waitMs, traceparent, secrets } = frame;
  const { secretExtras } = request;
  return {
    input: request.input,
    extras: request.extras,
    sealedExtras:
      secretExtras === null ? null : sealExtras(secrets, { endpointId: endpoint.id, jobId: id }, secretExtras),
    webhook: request.webhook,
    executionTimeoutMs: request.executionTimeoutMs ?? endpointTimeoutMs(endpoint),
    ttlMs: request.ttlMs,
    retentionMs: retentionMs(waitMs === null ? 'run' : 'runsync', waitMs ?? 0),
    isLowPriority: request.isLowPriority,
    traceparent,
  };
}

/** Snapshots come from another process: one without a usable timeout gets the default of the job policy. */
const endpointTimeoutMs = ({ executionTimeoutMs }: EndpointSnapshot): number =>
  executionTimeoutMs > 0 ? executionTimeoutMs : EXECUTION_TIMEOUT_DEFAULT_MS;
