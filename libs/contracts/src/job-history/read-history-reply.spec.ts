import { describe, expect, test } from '@jest/globals';
import { readHistoryJob, readHistoryList } from './read-history-reply.js';

const JOB = {
  jobId: 'j1',
  status: 'COMPLETED',
  origin: 'run',
  createdAtMs: 1,
  startedAtMs: 2,
  endedAtMs: 3,
  delayTimeMs: 1,
  executionTimeMs: 1,
  hostId: 'h',
  workerId: 'w',
  attempts: 1,
  error: null,
};

describe('the answer of the job history', () => {
  test('is taken as it came, with what a later version adds', () => {
    const list = { jobs: [{ ...JOB, more: true }], completeUntilMs: 5 };
    expect(readHistoryList(list)).toEqual({ kind: 'value', value: list });
    const job = { job: { ...JOB, attemptList: [], webhook: null }, completeUntilMs: null };
    expect(readHistoryJob(job)).toEqual({ kind: 'value', value: job });
    expect(readHistoryJob({ job: null, completeUntilMs: 1 }).kind).toBe('value');
  });

  test.each([null, {}, [], 'x', { jobs: null, completeUntilMs: 1 }, { jobs: [{}], completeUntilMs: 1 }])(
    'that is %j is no list',
    (reply) => {
      expect(readHistoryList(reply).kind).toBe('unreadable');
    },
  );

  test.each([null, {}, { completeUntilMs: 1 }, { job: JOB, completeUntilMs: 1 }])(
    'that is %j tells no job',
    (reply) => {
      expect(readHistoryJob(reply).kind).toBe('unreadable');
    },
  );
});
