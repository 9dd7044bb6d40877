import { describe, expect, test } from '@jest/globals';
import type { AccountId, EndpointId, HostId, JobId, WorkerId } from '../ids.js';
import { encodeJson } from '../json/index.js';
import { LOG_TAIL_CHARACTERS_MAX, LOG_TAIL_LINES_MAX } from './attempt-history.js';
import { PURGED_RECORD_MS, disappearsAtMs, isGone, isPurged, recordTtlMs } from './expiry.js';
import { JOB_STATES, JOB_TRANSITIONS, canMove, isEnded, type JobState } from './job-state.js';
import { jobTimes } from './job-times.js';
import type { AttemptRecord, Job } from './job.js';
import type { Payload } from './payload.js';
import { TTL_MAX_MS } from './policy.js';
import { purgeJob } from './purge-job.js';
import { replaceLife } from './replace-life.js';
import { STOP_SETTLES_MS, retryJob } from './retry-job.js';
import { settleStop, type Stop } from './settle-stop.js';
import { stateDiagram } from './state-diagram.js';
import {
  cancelJob,
  finishJob,
  loseAttempt,
  reportProgress,
  takeJob,
  timeOutJob,
  type Loss,
  type Taker,
} from './transitions.js';
import type { Verdict } from './verdict.js';

const T0 = 1_000_000;
const NOW = T0 + 5_000;
const TOKEN = 'token-2';

const inline = (value: unknown): Payload => ({ kind: 'inline', json: encodeJson(value) });

const TAKER: Taker = { attempt: 2, token: TOKEN, hostId: 'h1' as HostId, workerId: 'w1' as WorkerId };

const LOSS: Loss = { attempt: 2, token: TOKEN, reason: 'the host is gone', isCharged: true, delayMs: 2_000 };

const STOP: Stop = { attempt: 2, token: TOKEN, stoppedAtMs: T0 + 3_000 };

const CURRENT = {
  token: TOKEN,
  hostId: TAKER.hostId,
  workerId: TAKER.workerId,
  startedAtMs: T0 + 1_000,
  deadlineAtMs: T0 + 4_000,
};

/** How the history tells the second attempt. */
const attemptIn = (outcome: AttemptRecord['outcome'], fields: Partial<AttemptRecord> = {}): AttemptRecord => ({
  attempt: 2,
  hostId: TAKER.hostId,
  workerId: TAKER.workerId,
  startedAtMs: T0 + 1_000,
  endedAtMs: T0 + 2_000,
  outcome,
  reason: outcome,
  stoppedAtMs: null,
  logTail: [],
  ...fields,
});

/** A job in its second attempt that runs, or ran, under `TOKEN`. */
function jobIn(state: JobState, fields: Partial<Job> = {}): Job {
  return {
    id: 'j1' as JobId,
    endpointId: 'e1' as EndpointId,
    accountId: 'a1' as AccountId,
    origin: 'run',
    state,
    attempt: 2,
    charged: 1,
    current: state === 'IN_QUEUE' ? null : CURRENT,
    createdAtMs: T0 - 10_000,
    queuedAtMs: T0,
    notBeforeMs: T0,
    endedAtMs: isEnded(state) ? T0 + 2_000 : null,
    expiresAtMs: T0 + 3_600_000,
    retentionMs: 1_800_000,
    executionTimeoutMs: 3_000,
    lowPriority: false,
    input: inline({}),
    extras: encodeJson({}),
    sealedExtras: null,
    milestones: [],
    reservation: null,
    webhook: null,
    output: state === 'COMPLETED' ? inline('done') : null,
    error: state === 'FAILED' ? 'boom' : null,
    chunks: 0,
    history: isEnded(state) ? [attemptIn(state)] : [],
    traceparent: null,
    mutation: 'm0',
    ...fields,
  };
}

/** A verdict as one word: the state it led to, `=` where nothing changed, or the refusal. */
const wordOf = (verdict: Verdict): string => {
  if (verdict.kind === 'refused') return verdict.reason;
  return verdict.kind === 'changed' ? verdict.job.state : '=';
};

const OPERATIONS: Readonly<Record<string, (job: Job) => Verdict>> = {
  take: (job) => takeJob(job, TAKER, NOW),
  'take by another': (job) => takeJob(job, { ...TAKER, token: 'other' }, NOW),
  'take of another attempt': (job) => takeJob(job, { ...TAKER, attempt: 1 }, NOW),
  progress: (job) => reportProgress(job, { token: TOKEN, output: inline('half') }, NOW),
  'progress by another': (job) => reportProgress(job, { token: 'other', output: inline('half') }, NOW),
  complete: (job) => finishJob(job, { token: TOKEN, result: { kind: 'completed', output: null, chunks: 0 } }, NOW),
  fail: (job) => finishJob(job, { token: TOKEN, result: { kind: 'failed', error: 'x', output: null, chunks: 0 } }, NOW),
  'time out': (job) => finishJob(job, { token: TOKEN, result: { kind: 'timed-out', error: 'x', chunks: 0 } }, NOW),
  'finish by another': (job) =>
    finishJob(job, { token: 'other', result: { kind: 'completed', output: null, chunks: 0 } }, NOW),
  cancel: (job) => cancelJob(job, NOW),
  'time out by the router': (job) => timeOutJob(job, 1_000, NOW),
  'time out too early': (job) => timeOutJob(job, 1_001, NOW),
  lose: (job) => loseAttempt(job, LOSS, NOW),
  'lose without token': (job) => loseAttempt(job, { attempt: 2, reason: 'gone', isCharged: false, delayMs: 0 }, NOW),
  'lose by another': (job) => loseAttempt(job, { ...LOSS, token: 'other' }, NOW),
  'lose another attempt': (job) => loseAttempt(job, { ...LOSS, attempt: 1 }, NOW),
  retry: (job) => retryJob(job, NOW),
  purge: (job) => purgeJob(job, 2, NOW),
  'purge of another attempt': (job) => purgeJob(job, 1, NOW),
  'replace its life': (job) => replaceLife(job, 60_000, NOW),
  'settle its stop': (job) => settleStop(job, STOP, NOW),
  'settle the stop of another': (job) => settleStop(job, { ...STOP, token: 'other' }, NOW),
  'settle the stop of another attempt': (job) => settleStop(job, { ...STOP, attempt: 1 }, NOW),
};

/** Columns in the order of `JOB_STATES`: IN_QUEUE, IN_PROGRESS, COMPLETED, FAILED, CANCELLED, TIMED_OUT. */
const VERDICTS: Readonly<Record<keyof typeof OPERATIONS, readonly string[]>> = {
  take: ['IN_PROGRESS', '=', 'not-queued', 'not-queued', 'not-queued', 'not-queued'],
  'take by another': ['IN_PROGRESS', 'not-queued', 'not-queued', 'not-queued', 'not-queued', 'not-queued'],
  'take of another attempt': Array.from(JOB_STATES, () => 'other-attempt'),
  progress: ['superseded', 'IN_PROGRESS', 'ended', 'ended', 'ended', 'ended'],
  'progress by another': Array.from(JOB_STATES, () => 'superseded'),
  complete: ['superseded', 'COMPLETED', '=', '=', 'ended', '='],
  fail: ['superseded', 'FAILED', '=', '=', 'ended', '='],
  'time out': ['superseded', 'TIMED_OUT', '=', '=', 'ended', '='],
  'finish by another': Array.from(JOB_STATES, () => 'superseded'),
  cancel: ['CANCELLED', 'CANCELLED', '=', '=', '=', '='],
  'time out by the router': ['ended', 'TIMED_OUT', 'ended', 'ended', 'ended', 'ended'],
  'time out too early': ['ended', 'not-yet', 'ended', 'ended', 'ended', 'ended'],
  lose: ['ended', 'IN_QUEUE', 'ended', 'ended', 'ended', 'ended'],
  'lose without token': ['ended', 'IN_QUEUE', 'ended', 'ended', 'ended', 'ended'],
  'lose by another': ['ended', 'superseded', 'ended', 'ended', 'ended', 'ended'],
  'lose another attempt': Array.from(JOB_STATES, () => 'other-attempt'),
  retry: ['not-retriable', 'not-retriable', 'not-retriable', 'IN_QUEUE', 'not-retriable', 'IN_QUEUE'],
  purge: ['IN_QUEUE', 'not-queued', 'not-queued', 'not-queued', 'not-queued', 'not-queued'],
  'purge of another attempt': Array.from(JOB_STATES, () => 'other-attempt'),
  'replace its life': JOB_STATES,
  'settle its stop': ['superseded', 'not-stopping', 'not-stopping', 'not-stopping', 'CANCELLED', 'TIMED_OUT'],
  'settle the stop of another': Array.from(JOB_STATES, () => 'superseded'),
  'settle the stop of another attempt': Array.from(JOB_STATES, () => 'other-attempt'),
};

describe('every operation in every state', () => {
  const cells = Object.keys(OPERATIONS).flatMap((name) =>
    JOB_STATES.map((state, column): [string, JobState, string] => [name, state, VERDICTS[name]?.[column] ?? '?']),
  );

  test.each(cells)('%s, %s: %s', (name, state, expected) => {
    const job = jobIn(state);
    const verdict = OPERATIONS[name]?.(job);
    expect(verdict === undefined ? '?' : wordOf(verdict)).toBe(expected);
    if (verdict !== undefined && verdict.kind !== 'changed') expect(verdict.job).toBe(job);
  });

  test.each(Object.keys(OPERATIONS))('%s of a job that is gone', (name) => {
    const gone = jobIn('IN_PROGRESS', { expiresAtMs: NOW });
    const verdict = OPERATIONS[name]?.(gone);
    expect(verdict === undefined ? '?' : wordOf(verdict)).toBe('gone');
  });
});

describe('a take', () => {
  test('sets the attempt that owns the job, and drops what the one before it showed', () => {
    const before = jobIn('IN_QUEUE', { output: inline('half'), chunks: 3 });
    const verdict = takeJob(before, TAKER, NOW);
    expect(verdict.job).toMatchObject({
      state: 'IN_PROGRESS',
      attempt: 2,
      current: { token: TOKEN, hostId: 'h1', workerId: 'w1', startedAtMs: NOW, deadlineAtMs: NOW + 3_000 },
      output: null,
      chunks: 0,
    });
  });

  test('waits for the delay between attempts', () => {
    const delayed = jobIn('IN_QUEUE', { notBeforeMs: NOW + 1 });
    expect(wordOf(takeJob(delayed, TAKER, NOW))).toBe('not-yet');
    expect(wordOf(takeJob(delayed, TAKER, NOW + 1))).toBe('IN_PROGRESS');
  });
});

describe('an end', () => {
  test.each([
    ['completed', { kind: 'completed', output: inline(1), chunks: 4 }, { error: null, output: inline(1), chunks: 4 }],
    [
      'failed, with what the handler said besides',
      { kind: 'failed', error: 'boom', output: inline(2), chunks: 1 },
      { error: 'boom', output: inline(2), chunks: 1 },
    ],
    ['timed out', { kind: 'timed-out', error: 'late', chunks: 2 }, { error: 'late', output: null, chunks: 2 }],
  ] as const)('%s', (_, result, expected) => {
    const { job } = finishJob(jobIn('IN_PROGRESS', { output: inline('half') }), { token: TOKEN, result }, NOW);
    expect(job).toMatchObject({ ...expected, endedAtMs: NOW, current: CURRENT });
    expect(job.history).toEqual([
      {
        attempt: 2,
        hostId: 'h1',
        workerId: 'w1',
        startedAtMs: T0 + 1_000,
        endedAtMs: NOW,
        outcome: job.state,
        reason: expected.error ?? job.state,
        stoppedAtMs: null,
        logTail: [],
      },
    ]);
  });

  test('by cancel of a job that never ran leaves no attempt behind', () => {
    expect(cancelJob(jobIn('IN_QUEUE'), NOW).job).toMatchObject({ state: 'CANCELLED', history: [], endedAtMs: NOW });
  });
});

describe('a lost attempt', () => {
  test('goes back to the queue as a new attempt, after its delay', () => {
    const { job } = loseAttempt(jobIn('IN_PROGRESS', { output: inline('half'), chunks: 2 }), LOSS, NOW);
    expect(job).toMatchObject({
      state: 'IN_QUEUE',
      attempt: 3,
      charged: 2,
      current: null,
      queuedAtMs: NOW,
      notBeforeMs: NOW + 2_000,
      output: null,
      chunks: 0,
      history: [{ attempt: 2, outcome: 'lost', reason: 'the host is gone' }],
    });
  });

  test('that nobody is charged for can happen any number of times', () => {
    const { job } = loseAttempt(jobIn('IN_PROGRESS', { charged: 2 }), { ...LOSS, isCharged: false }, NOW);
    expect(job).toMatchObject({ state: 'IN_QUEUE', attempt: 3, charged: 2 });
  });

  test('that was the last one fails the job with the reason', () => {
    const { job } = loseAttempt(jobIn('IN_PROGRESS', { charged: 2 }), LOSS, NOW);
    expect(job).toMatchObject({
      state: 'FAILED',
      charged: 3,
      error: 'the host is gone (attempt 3 of 3)',
      endedAtMs: NOW,
    });
  });
});

describe('a retry', () => {
  const ended = jobIn('FAILED', { charged: 3, output: inline('half'), chunks: 4, expiresAtMs: NOW + 60_000 });

  test('is a new attempt with the same input and end, and shows nothing of the one before', () => {
    const { job } = retryJob(ended, NOW);
    expect(job).toMatchObject({
      id: ended.id,
      state: 'IN_QUEUE',
      attempt: 3,
      charged: 0,
      current: null,
      queuedAtMs: NOW,
      notBeforeMs: NOW,
      endedAtMs: null,
      expiresAtMs: NOW + 60_000,
      output: null,
      error: null,
      chunks: 0,
      history: ended.history,
    });
    expect(job.input).toBe(ended.input);
  });

  test('that is repeated while the job waits for it changes nothing; of a job that waits for another reason it is none', () => {
    const waiting = retryJob(ended, NOW).job;
    expect(wordOf(retryJob(waiting, NOW + 1))).toBe('=');
    const requeued = jobIn('IN_QUEUE', { history: [attemptIn('lost', { attempt: 1 })] });
    expect(wordOf(retryJob(requeued, NOW))).toBe('not-retriable');
  });

  test('of a job that ran out of time waits until its worker has surely let go', () => {
    const overdue = jobIn('TIMED_OUT');
    expect(retryJob(overdue, NOW).job.notBeforeMs).toBe(T0 + 2_000 + STOP_SETTLES_MS);
    expect(retryJob(overdue, T0 + 60_000).job.notBeforeMs).toBe(T0 + 60_000);
    const stopped = settleStop(overdue, STOP, NOW).job;
    expect(retryJob(stopped, NOW).job.notBeforeMs).toBe(NOW);
  });
});

describe('a purge', () => {
  test.each([['waits'], ['waits for its delay']])('of a job that %s leaves nothing of what it carried', (what) => {
    const notBeforeMs = what === 'waits' ? T0 : NOW + 60_000;
    const secrets = { extras: encodeJson({ s: 1 }), sealedExtras: 'sealed', webhook: 'https://u:p@h' };
    const { job } = purgeJob(jobIn('IN_QUEUE', { ...secrets, notBeforeMs, input: inline({ big: 1 }) }), 2, NOW);
    expect(job).toMatchObject({ input: inline({}), extras: '{}', sealedExtras: null, webhook: null });
  });

  test('makes a job that is gone by every clock, and that nothing changes any more', () => {
    const { job } = purgeJob(jobIn('IN_QUEUE'), 2, NOW);
    expect(isPurged(job)).toBe(true);
    for (const nowMs of [0, 1, NOW]) expect(isGone(job, nowMs)).toBe(true);
    for (const operation of Object.values(OPERATIONS)) expect(wordOf(operation(job))).toBe('gone');
    expect(recordTtlMs(job, NOW)).toBe(PURGED_RECORD_MS);
  });
});

describe('a replaced life', () => {
  test.each<[string, number, number]>([
    ['shorter', 1_000, NOW + 1_000],
    ['longer', 7_200_000, NOW + 7_200_000],
    ['cut to the longest from submission', TTL_MAX_MS, T0 - 10_000 + TTL_MAX_MS],
  ])('%s', (_, leftMs, expected) => {
    expect(replaceLife(jobIn('IN_QUEUE'), leftMs, NOW).job.expiresAtMs).toBe(expected);
  });

  test.each([[1_000], [7_200_000]])('of an ended job replaces its retention too: %d ms', (leftMs) => {
    const { job } = replaceLife(jobIn('COMPLETED'), leftMs, NOW);
    expect(disappearsAtMs(job)).toBe(NOW + leftMs);
  });

  test('by what it is changes nothing', () => {
    expect(wordOf(replaceLife(jobIn('IN_PROGRESS'), T0 + 3_600_000 - NOW, NOW))).toBe('=');
  });

  test('of a job that has not ended leaves the retention of its result', () => {
    expect(replaceLife(jobIn('IN_PROGRESS'), 7_200_000, NOW).job.retentionMs).toBe(1_800_000);
  });
});

describe('a settled stop', () => {
  const cancelled = jobIn('CANCELLED', { history: [attemptIn('lost', { attempt: 1 }), attemptIn('CANCELLED')] });

  test('is noted on the last attempt, once', () => {
    const { job } = settleStop(cancelled, STOP, NOW);
    expect(job.history.map(({ stoppedAtMs }) => stoppedAtMs)).toEqual([null, T0 + 3_000]);
    expect({ ...job, history: [] }).toEqual({ ...cancelled, history: [] });
    expect(wordOf(settleStop(job, { ...STOP, stoppedAtMs: T0 + 4_000 }, NOW))).toBe('=');
  });

  test('brings what the worker wrote last, and leaves it with the newest three attempts', () => {
    const lost = (attempt: number) => attemptIn('lost', { attempt, logTail: [`line of ${String(attempt)}`] });
    const job = jobIn('CANCELLED', { history: [lost(-2), lost(-1), lost(0), attemptIn('CANCELLED')] });
    const { history } = settleStop(job, { ...STOP, logTail: ['stopping', 'x'.repeat(900)] }, NOW).job;
    expect(history.map(({ logTail }) => logTail[0])).toEqual([undefined, 'line of -1', 'line of 0', 'stopping']);
    expect(history.at(-1)?.logTail.at(-1)).toHaveLength(LOG_TAIL_CHARACTERS_MAX);
  });

  test.each([
    [0, T0 + 1_000],
    [NOW + 99_000, NOW],
  ])('at %d lies within the attempt', (stoppedAtMs, expected) => {
    expect(settleStop(cancelled, { ...STOP, stoppedAtMs }, NOW).job.history.at(-1)?.stoppedAtMs).toBe(expected);
  });

  test('of a job that was cancelled before it ran says nothing', () => {
    const never = cancelJob(jobIn('IN_QUEUE'), NOW).job;
    expect(wordOf(settleStop(never, STOP, NOW))).toBe('superseded');
  });
});

describe('the last lines of a worker', () => {
  const lines = (name: string, count = 1): string[] => Array.from({ length: count }, (_, n) => `${name}${n}`);

  test('are cut to what a small record can hold', () => {
    const { job } = loseAttempt(jobIn('IN_PROGRESS'), { ...LOSS, logTail: [...lines('a', 30), 'x'.repeat(900)] }, NOW);
    const tail = job.history.at(-1)?.logTail ?? [];
    expect(tail).toHaveLength(LOG_TAIL_LINES_MAX);
    expect(tail.at(-1)).toBe('x'.repeat(LOG_TAIL_CHARACTERS_MAX));
    expect(tail[0]).toBe('a11');
  });

  test('stay with the newest three attempts', () => {
    const history = ['a', 'b', 'c'].map((name, n) => attemptIn('lost', { attempt: n - 5, logTail: lines(name) }));
    const { job } = loseAttempt(jobIn('IN_PROGRESS', { history }), { ...LOSS, logTail: lines('d') }, NOW);
    expect(job.history.map(({ logTail }) => logTail[0])).toEqual([undefined, 'b0', 'c0', 'd0']);
  });

  test.each(['failed', 'timed-out'] as const)('stay with an attempt that %s', (kind) => {
    const result = { kind, error: 'e', output: null, chunks: 0, logTail: lines('z') };
    const { job } = finishJob(jobIn('IN_PROGRESS'), { token: TOKEN, result }, NOW);
    expect(job.history.at(-1)?.logTail).toEqual(['z0']);
  });
});

describe('times', () => {
  test.each<[string, Job, { delayTime: number; executionTime: number }]>([
    ['waiting', jobIn('IN_QUEUE'), { delayTime: 5_000, executionTime: 0 }],
    ['running', jobIn('IN_PROGRESS'), { delayTime: 1_000, executionTime: 4_000 }],
    ['ended', jobIn('COMPLETED'), { delayTime: 1_000, executionTime: 1_000 }],
    ['cancelled in the queue', jobIn('CANCELLED', { current: null }), { delayTime: 2_000, executionTime: 0 }],
    ['a clock that went back', jobIn('IN_QUEUE', { queuedAtMs: NOW + 50 }), { delayTime: 0, executionTime: 0 }],
  ])('%s', (_, job, expected) => {
    expect(jobTimes(job, NOW)).toEqual(expected);
  });
});

describe('the table', () => {
  test('only a retry leaves an ended state', () => {
    const exits = JOB_STATES.filter(isEnded).map((state) => [state, JOB_TRANSITIONS[state]]);
    expect(exits).toEqual([
      ['COMPLETED', []],
      ['FAILED', ['IN_QUEUE']],
      ['CANCELLED', []],
      ['TIMED_OUT', ['IN_QUEUE']],
    ]);
    expect(canMove('CANCELLED', 'COMPLETED')).toBe(false);
  });

  test('draws itself', () => {
    expect(stateDiagram({ A: ['B', 'A'], B: [] })).toBe('stateDiagram-v2\n  A --> B\n  A --> A\n  B --> [*]');
    expect(stateDiagram(JOB_TRANSITIONS).split('\n')).toContain('  IN_PROGRESS --> IN_QUEUE');
  });
});
