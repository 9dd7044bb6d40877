import type { AccountId, EndpointId, HostId, Job, JobId, WorkerId } from '@berth/domain';
import { sampleJob } from '@berth/testing';

export const ACCOUNT = 'account' as AccountId;
export const ENDPOINT = 'e1' as EndpointId;

/** A job of the endpoint; its id tells it from others. */
export const queuedJob = (id: string, createdAtMs: number, more: Partial<Job> = {}): Job =>
  sampleJob(
    { endpointId: ENDPOINT, jobId: id as JobId },
    { accountId: ACCOUNT, createdAtMs, queuedAtMs: createdAtMs, ...more },
  );

export const startedJob = (id: string, createdAtMs: number, more: Partial<Job> = {}): Job =>
  queuedJob(id, createdAtMs, {
    state: 'IN_PROGRESS',
    current: {
      token: 'token',
      hostId: 'h1' as HostId,
      workerId: 'w1' as WorkerId,
      startedAtMs: createdAtMs + 40,
      deadlineAtMs: createdAtMs + 60_000,
    },
    ...more,
  });

/** One that ended after 1.2 s. */
export const endedJob = (id: string, createdAtMs: number, more: Partial<Job> = {}): Job => {
  const { attempt, current } = startedJob(id, createdAtMs, more);
  const { hostId, startedAtMs, workerId } = current ?? {};
  const endedAtMs = createdAtMs + 1_240;
  const state = more.state ?? 'COMPLETED';
  const place = hostId === undefined || workerId === undefined || startedAtMs === undefined;
  return startedJob(id, createdAtMs, {
    state,
    endedAtMs,
    error: state === 'FAILED' ? 'it broke' : null,
    history: place
      ? []
      : [
          {
            attempt,
            hostId,
            workerId,
            startedAtMs,
            endedAtMs,
            outcome: state,
            reason: state,
            stoppedAtMs: null,
            logTail: ['bye'],
          },
        ],
    ...more,
  });
};
