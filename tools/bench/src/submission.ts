import type { AccountId, EndpointId, RawJson } from '@berth/domain';
import type { Submission } from '@berth/jobs';

const DAY_MS = 24 * 3_600_000;

/** A job as `/run` makes it of a body that has nothing but this input. */
export const submissionTo = (endpointId: EndpointId, input: RawJson): Submission => ({
  endpointId,
  accountId: 'bench' as AccountId,
  origin: 'run',
  input,
  extras: '{}' as RawJson,
  sealedExtras: null,
  webhook: null,
  executionTimeoutMs: DAY_MS,
  ttlMs: DAY_MS,
  retentionMs: DAY_MS,
  isLowPriority: false,
  reservation: null,
  traceparent: null,
});
