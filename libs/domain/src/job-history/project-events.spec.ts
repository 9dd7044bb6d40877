import { describe, expect, test } from '@jest/globals';
import type { AccountId, EndpointId, HostId, JobId, WorkerId } from '../ids.js';
import type { AttemptRecord, Job } from '../job/index.js';
import { encodeJson } from '../json/index.js';
import { describeJob, summarizeJob } from './job-summary.js';
import { concernsHistory, projectEvents, type HistoryEvent } from './project-events.js';

const QUEUED: Job = {
  id: 'j1' as JobId,
  endpointId: 'e1' as EndpointId,
  accountId: 'a1' as AccountId,
  origin: 'run',
  state: 'IN_QUEUE',
  attempt: 1,
  charged: 0,
  current: null,
  createdAtMs: 1_000,
  queuedAtMs: 1_000,
  notBeforeMs: 1_000,
  endedAtMs: null,
  expiresAtMs: 61_000,
  retentionMs: 20_000,
  executionTimeoutMs: 5_000,
  lowPriority: false,
  input: { kind: 'inline', json: encodeJson({ secret: 1 }) },
  extras: encodeJson({}),
  sealedExtras: null,
  milestones: [],
  reservation: null,
  webhook: null,
  output: null,
  error: null,
  chunks: 0,
  history: [],
  traceparent: null,
  mutation: 'm',
};
const PLACE = { hostId: 'h1' as HostId, workerId: 'w1' as WorkerId };
const CURRENT = { ...PLACE, token: 't', startedAtMs: 1_400, deadlineAtMs: 6_400 };
const RUNNING: Job = { ...QUEUED, state: 'IN_PROGRESS', current: CURRENT };
const OVER: AttemptRecord = {
  ...PLACE,
  attempt: 1,
  startedAtMs: 1_400,
  endedAtMs: 2_000,
  outcome: 'FAILED',
  reason: 'it broke',
  stoppedAtMs: null,
  logTail: ['bye'],
};
const FAILED: Job = { ...RUNNING, state: 'FAILED', endedAtMs: 2_000, error: 'it broke', history: [OVER] };
const AGAIN: Job = { ...QUEUED, attempt: 2, queuedAtMs: 3_000, history: [OVER] };

const changed = (job: Job, recordSequence: number): HistoryEvent => ({ kind: 'changed', job, recordSequence });
const removed = (recordSequence: number): HistoryEvent => ({
  kind: 'removed',
  key: { endpointId: QUEUED.endpointId, jobId: QUEUED.id },
  recordSequence,
});

describe('what is told of a job', () => {
  test('while it waits, runs and has ended', () => {
    expect(summarizeJob(QUEUED, 1_250)).toMatchObject({ startedAtMs: null, delayTimeMs: 250, attempts: 0 });
    expect(summarizeJob(RUNNING, 1_900)).toMatchObject({
      ...PLACE,
      startedAtMs: 1_400,
      delayTimeMs: 400,
      executionTimeMs: 500,
      attempts: 1,
    });
    expect(summarizeJob(FAILED, 9_999)).toEqual({
      jobId: 'j1',
      status: 'FAILED',
      origin: 'run',
      createdAtMs: 1_000,
      startedAtMs: 1_400,
      endedAtMs: 2_000,
      delayTimeMs: 400,
      executionTimeMs: 600,
      ...PLACE,
      attempts: 1,
      error: 'it broke',
    });
    expect(summarizeJob({ ...AGAIN, state: 'CANCELLED', endedAtMs: 3_500 }, 0)).toMatchObject({
      startedAtMs: null,
      workerId: null,
      attempts: 1,
    });
  });

  test('holds every attempt, the running one without an end, and nothing of its payloads', () => {
    const twice = describeJob({ ...RUNNING, attempt: 2, history: [OVER] }, 1_900);
    expect(twice.attemptList).toEqual([
      OVER,
      {
        ...PLACE,
        attempt: 2,
        startedAtMs: 1_400,
        endedAtMs: null,
        outcome: null,
        reason: null,
        stoppedAtMs: null,
        logTail: [],
      },
    ]);
    expect(JSON.stringify(twice)).not.toContain('secret');
  });

  test.each([
    ['https://hook.example.com/services/T0/secret', 'https://hook.example.com'],
    ['http://me:secret@hook.example.com:8080?key=secret', 'http://hook.example.com:8080'],
    ['https://a@b:secret@[::1]:9/x', 'https://[::1]:9'],
    ['no address', null],
  ])('names of the webhook %s only where it is', (webhook, told) => {
    expect(describeJob({ ...QUEUED, webhook }, 0).webhook).toBe(told);
  });
});

describe('the history', () => {
  test('is made of ends, and of versions that may have ended before', () => {
    expect([QUEUED, RUNNING, FAILED, AGAIN].map(concernsHistory)).toEqual([false, false, true, true]);
  });

  test('takes of one job the newest version in a batch, whatever the order', () => {
    const versions = [changed(QUEUED, 1), changed(RUNNING, 2), changed(FAILED, 3), changed(AGAIN, 4)];
    for (const batch of [versions, versions.toReversed(), [...versions, ...versions]]) {
      expect(projectEvents(batch).rows).toMatchObject([{ recordSequence: 4, attempt: 2, job: { status: 'IN_QUEUE' } }]);
    }
    expect(projectEvents(versions.slice(0, 2))).toEqual({ rows: [], removed: [] });
  });

  test('keeps the end of a job whose record has expired, and drops one that had not ended', () => {
    expect(projectEvents([changed(FAILED, 3), removed(4)])).toMatchObject({ rows: [{ recordSequence: 3 }] });
    expect(projectEvents([changed(AGAIN, 4), removed(5)])).toMatchObject({
      rows: [],
      removed: [{ recordSequence: 5 }],
    });
    expect(projectEvents([removed(4), changed(AGAIN, 5)]).rows).toHaveLength(1);
  });
});
