import { JOB_STATES, toRawJson, type JobSight, type WorkerId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { jobSight } from '../../test/model/scripted-jobs.js';
import type { QueueBody } from '../queue-reasons/index.js';
import { briefBody, debugBody, healthBody, statusBody } from './job-body.js';

const NOTHING = { output: null, queue: null, debug: null };

const WAITED = { delayTimeMs: 1_000 };
const RAN = { workerId: 'worker' as WorkerId, delayTimeMs: 600, executionTimeMs: 400 };

const job = (more: Partial<JobSight> = {}): JobSight => jobSight({ ...WAITED, ...more });

describe('the bodies of the job API', () => {
  test('brief: id and status, nothing else', () => {
    expect(briefBody(job())).toBe('{"id":"job","status":"IN_QUEUE"}');
  });

  test('a job that waits has no worker, output, error or retries', () => {
    expect(statusBody(job(), NOTHING)).toBe('{"id":"job","status":"IN_QUEUE","delayTime":1000,"executionTime":0}');
  });

  test('a job that waits says why, last of all', () => {
    const queue: QueueBody = {
      position: 1,
      reason: 'no-hosts',
      detail: 'no host has been added to this installation',
      estimatedStartMs: null,
      since: '2026-01-01T12:00:00.000Z',
    };
    expect(statusBody(job(), { ...NOTHING, queue })).toMatch(/"executionTime":0,"queue":\{"position":1,.*\}\}$/);
  });

  test('a job whose trace was asked for tells it behind all else', () => {
    const debug = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', isRecorded: true };
    expect(statusBody(job(), { ...NOTHING, debug })).toBe(
      '{"id":"job","status":"IN_QUEUE","delayTime":1000,"executionTime":0,"debug":{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","isRecorded":true}}',
    );
  });

  test('a completed job shows its output as the very text that its worker sent', () => {
    const output = toRawJson('{ "a":1.0,"n":9007199254740993 }');
    const text = statusBody(job({ state: 'COMPLETED', ...RAN }), { ...NOTHING, output });

    expect(text).toBe(
      `{"id":"job","status":"COMPLETED","delayTime":600,"executionTime":400,"output":${output},"workerId":"worker"}`,
    );
  });

  test('a failed job shows its error as a string, and how often it was tried before', () => {
    const failed = job({
      state: 'FAILED',
      ...RAN,
      error: 'out of "memory"',
      retries: 2,
    });

    expect(JSON.parse(statusBody(failed, NOTHING))).toEqual({
      id: 'job',
      status: 'FAILED',
      delayTime: 600,
      executionTime: 400,
      error: 'out of "memory"',
      retries: 2,
      workerId: 'worker',
    });
  });

  test('a result that is null is there, and is null', () => {
    const text = statusBody(job({ state: 'COMPLETED', ...RAN }), { ...NOTHING, output: toRawJson('null') });
    expect(JSON.parse(text)).toHaveProperty('output', null);
  });

  test('health: nothing but what is promised', () => {
    const counts = { inQueue: 5, inProgress: 4, completed: 1, failed: 2, retried: 3, later: 9 };
    const workers = { idle: 0, running: 1, initializing: 0, ready: 1, throttled: 0, unhealthy: 0 };
    expect(healthBody(counts, workers)).toBe(
      `{"jobs":{"completed":1,"failed":2,"inProgress":4,"inQueue":5,"retried":3},"workers":${JSON.stringify(workers)}}`,
    );
  });
});

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const RECORDED = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const UNRECORDED = RECORDED.replace(/01$/, '00');

test.each([...JOB_STATES])('the trace of a job that is %s is told, and whether it is recorded here', (state) => {
  const told = (traceparent: string, isOn: boolean) => debugBody({ state, traceparent }, { isOn });
  const hasFailed = state === 'FAILED' || state === 'TIMED_OUT';
  expect(told(RECORDED, true)).toEqual({ traceId: TRACE_ID, isRecorded: true });
  expect(told(UNRECORDED, true)).toEqual({ traceId: TRACE_ID, isRecorded: hasFailed });
  // Its caller may record it, of which nothing is known here.
  expect(told(RECORDED, false)).toEqual({ traceId: TRACE_ID, isRecorded: false });
});

test.each([[undefined], [null], ['no trace']])('of a job whose trace is %s nothing is told', (traceparent) => {
  const job = { state: 'FAILED' as const, ...(traceparent !== undefined && { traceparent }) };
  expect(debugBody(job, { isOn: true })).toBeNull();
});
