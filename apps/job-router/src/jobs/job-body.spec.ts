import {
  encodeJson,
  toRawJson,
  type AccountId,
  type EndpointId,
  type HostId,
  type Job,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import type { QueueBody } from '../queue-reasons/queue-reasons.service.js';
import { briefBody, statusBody } from './job-body.js';

const NOW_MS = 1_750_000_000_000;

const NOTHING = { output: null, queue: null };

const job = (more: Partial<Job> = {}): Job => ({
  id: 'job' as JobId,
  endpointId: 'ep' as EndpointId,
  accountId: 'account' as AccountId,
  origin: 'run',
  state: 'IN_QUEUE',
  attempt: 1,
  charged: 0,
  current: null,
  createdAtMs: NOW_MS - 1_000,
  queuedAtMs: NOW_MS - 1_000,
  notBeforeMs: NOW_MS - 1_000,
  endedAtMs: null,
  expiresAtMs: NOW_MS + 60_000,
  retentionMs: 60_000,
  executionTimeoutMs: 60_000,
  lowPriority: false,
  input: { kind: 'inline', json: encodeJson({}) },
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
  ...more,
});

const current = {
  token: 't',
  hostId: 'host' as HostId,
  workerId: 'worker' as WorkerId,
  startedAtMs: NOW_MS - 400,
  deadlineAtMs: NOW_MS + 59_600,
};

describe('the bodies of the job API', () => {
  test('brief: id and status, nothing else', () => {
    expect(briefBody(job())).toBe('{"id":"job","status":"IN_QUEUE"}');
  });

  test('a job that waits has no worker, output, error or retries', () => {
    expect(statusBody(job(), NOTHING, NOW_MS)).toBe(
      '{"id":"job","status":"IN_QUEUE","delayTime":1000,"executionTime":0}',
    );
  });

  test('a job that waits says why, last of all', () => {
    const queue: QueueBody = {
      position: 1,
      reason: 'no-hosts',
      detail: 'no host has been added to this installation',
      estimatedStartMs: null,
      since: '2026-01-01T12:00:00.000Z',
    };
    expect(statusBody(job(), { output: null, queue }, NOW_MS)).toMatch(
      /"executionTime":0,"queue":\{"position":1,.*\}\}$/,
    );
  });

  test('a completed job shows its output as the very text that its worker sent', () => {
    const output = toRawJson('{ "a":1.0,"n":9007199254740993 }');
    const text = statusBody(
      job({ state: 'COMPLETED', current, endedAtMs: NOW_MS }),
      { ...NOTHING, output },
      NOW_MS + 5_000,
    );

    expect(text).toBe(
      `{"id":"job","status":"COMPLETED","delayTime":600,"executionTime":400,"output":${output},"workerId":"worker"}`,
    );
  });

  test('a failed job shows its error as a string, and how often it was tried before', () => {
    const failed = job({
      state: 'FAILED',
      current,
      endedAtMs: NOW_MS,
      error: 'out of "memory"',
      attempt: 4,
      charged: 3,
    });

    expect(JSON.parse(statusBody(failed, NOTHING, NOW_MS))).toEqual({
      id: 'job',
      status: 'FAILED',
      delayTime: 600,
      executionTime: 400,
      error: 'out of "memory"',
      retries: 2,
      workerId: 'worker',
    });
  });

  test('times are integers even when the clock is not', () => {
    const text = statusBody(job({ queuedAtMs: NOW_MS - 10.4 }), NOTHING, NOW_MS);
    expect(text).toContain('"delayTime":10,');
  });

  test('a result that is null is there, and is null', () => {
    const text = statusBody(
      job({ state: 'COMPLETED', current, endedAtMs: NOW_MS }),
      { ...NOTHING, output: toRawJson('null') },
      NOW_MS,
    );
    expect(JSON.parse(text)).toHaveProperty('output', null);
  });
});
