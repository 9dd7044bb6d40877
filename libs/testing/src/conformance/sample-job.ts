import type { AccountId, EndpointId, HostId, Job, JobId, JobKey, RawJson, WorkerId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';

const HOUR_MS = 3_600_000;

/** A key that no other test uses: the stores under test are shared. */
export const freshKey = (): JobKey => ({
  endpointId: `ep-${systemRandom.id(8)}` as EndpointId,
  jobId: systemRandom.uuid() as JobId,
});

/** A queued job, one hour from its end. */
export const sampleJob = (key: JobKey, changes: Partial<Job> = {}): Job => ({
  id: key.jobId,
  endpointId: key.endpointId,
  accountId: 'account-1' as AccountId,
  origin: 'run',
  state: 'IN_QUEUE',
  attempt: 1,
  charged: 0,
  current: null,
  createdAtMs: 1_750_000_000_000,
  queuedAtMs: 1_750_000_000_000,
  notBeforeMs: 1_750_000_000_000,
  endedAtMs: null,
  expiresAtMs: 1_750_000_000_000 + HOUR_MS,
  retentionMs: 1_800_000,
  executionTimeoutMs: 600_000,
  lowPriority: false,
  input: { kind: 'inline', json: '{"prompt":"hello"}' as RawJson },
  extras: '{}' as RawJson,
  sealedExtras: null,
  milestones: [],
  reservation: null,
  webhook: null,
  output: null,
  error: null,
  chunks: 0,
  history: [],
  traceparent: null,
  mutation: 'mutation-1',
  ...changes,
});

/** The same job, taken. */
export const runningJob = (key: JobKey, changes: Partial<Job> = {}): Job =>
  sampleJob(key, {
    state: 'IN_PROGRESS',
    current: {
      token: 'token-1',
      hostId: 'host-1' as HostId,
      workerId: 'worker-1' as WorkerId,
      startedAtMs: 1_750_000_001_000,
      deadlineAtMs: 1_750_000_601_000,
    },
    mutation: 'mutation-2',
    ...changes,
  });
