import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AccountId, EndpointId, HostId, JobId, WorkerId } from '../ids.js';
import { encodeJson } from '../json/index.js';
import { isGone } from './expiry.js';
import { canMove, isEnded } from './job-state.js';
import type { Job } from './job.js';
import type { Payload } from './payload.js';
import { ATTEMPTS_MAX } from './retry-schedule.js';
import { cancelJob, finishJob, loseAttempt, reportProgress, takeJob, timeOutJob, type Verdict } from './transitions.js';

const T0 = 1_000_000;

const queued: Job = {
  id: 'j1' as JobId,
  endpointId: 'e1' as EndpointId,
  accountId: 'a1' as AccountId,
  origin: 'run',
  state: 'IN_QUEUE',
  attempt: 1,
  charged: 0,
  current: null,
  createdAtMs: T0,
  queuedAtMs: T0,
  notBeforeMs: T0,
  endedAtMs: null,
  expiresAtMs: T0 + 60_000,
  retentionMs: 20_000,
  executionTimeoutMs: 5_000,
  lowPriority: false,
  input: { kind: 'inline', json: encodeJson({}) },
  extras: encodeJson({}),
  sealedExtras: null,
  webhook: null,
  output: null,
  error: null,
  chunks: 0,
  history: [],
  traceparent: null,
  mutation: 'm0',
};

/** Says who wrote it, so that a test can see whose result is visible. */
const by = (token: string): Payload => ({ kind: 'inline', json: encodeJson({ token }) });

interface Step {
  readonly name: string;
  readonly token: string;
  readonly run: (job: Job, nowMs: number) => Verdict;
}

const step: fc.Arbitrary<Step> = fc
  .record({
    name: fc.constantFrom(
      'take',
      'take',
      'progress',
      'complete',
      'fail',
      'time-out',
      'cancel',
      'expire',
      'lose',
      'lose',
    ),
    token: fc.constantFrom('t1', 't2', 't3'),
    attempt: fc.integer({ min: 1, max: 5 }),
    isCharged: fc.boolean(),
    hasToken: fc.boolean(),
    delayMs: fc.nat(3_000),
  })
  .map(({ name, token, attempt, isCharged, hasToken, delayMs }) => ({
    name,
    token,
    run: (job, nowMs) => {
      const taker = { attempt, token, hostId: 'h' as HostId, workerId: 'w' as WorkerId };
      const loss = { attempt, reason: 'gone', isCharged, delayMs, ...(hasToken ? { token } : {}) };
      switch (name) {
        case 'take':
          return takeJob(job, taker, nowMs);
        case 'progress':
          return reportProgress(job, { token, output: by(token) }, nowMs);
        case 'complete':
          return finishJob(job, { token, result: { kind: 'completed', output: by(token), chunks: 1 } }, nowMs);
        case 'fail':
          return finishJob(job, { token, result: { kind: 'failed', error: 'x', output: by(token), chunks: 0 } }, nowMs);
        case 'time-out':
          return finishJob(job, { token, result: { kind: 'timed-out', error: 'x', chunks: 0 } }, nowMs);
        case 'cancel':
          return cancelJob(job, nowMs);
        case 'expire':
          return timeOutJob(job, 1_000, nowMs);
        case 'lose':
          return loseAttempt(job, loss, nowMs);
      }
    },
  }));

const stories = fc.array(fc.record({ afterMs: fc.nat(4_000), step }), { maxLength: 30 });

/** Calls `check` for every step of a story, with the job before it and the verdict on it. */
function follow(
  story: readonly { readonly afterMs: number; readonly step: Step }[],
  check: (at: { readonly before: Job; readonly verdict: Verdict; readonly step: Step; readonly nowMs: number }) => void,
): void {
  let nowMs = T0;
  let job = queued;
  for (const { afterMs, step: each } of story) {
    nowMs += afterMs;
    const verdict = each.run(job, nowMs);
    check({ before: job, verdict, step: each, nowMs });
    job = verdict.job;
  }
}

test('a job moves only along the table, and nothing of these leaves an ended state', () => {
  fc.assert(
    fc.property(stories, (story) => {
      follow(story, ({ before, verdict }) => {
        if (isEnded(before.state)) expect(verdict.kind).not.toBe('changed');
        if (verdict.kind === 'changed' && verdict.job.state !== before.state) {
          expect(canMove(before.state, verdict.job.state)).toBe(true);
        }
        if (verdict.kind !== 'changed') expect(verdict.job).toBe(before);
      });
    }),
  );
});

test('only the holder of the current token shows a result, or ends the job by one', () => {
  fc.assert(
    fc.property(stories, (story) => {
      follow(story, ({ before, verdict, step: { name, token } }) => {
        if (['progress', 'complete', 'fail', 'time-out'].includes(name) && verdict.kind === 'changed') {
          expect(before.current?.token).toBe(token);
        }
        const { output, current } = verdict.job;
        if (output?.kind === 'inline') expect(output.json).toBe(encodeJson({ token: current?.token }));
      });
    }),
  );
});

test('an attempt number never repeats, and a fault costs a bounded number of them', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const taken = new Map<number, string>();
      follow(story, ({ before, verdict: { kind, job } }) => {
        expect(job.attempt).toBe(before.attempt + (kind === 'changed' && job.state === 'IN_QUEUE' ? 1 : 0));
        expect(job.charged).toBeLessThanOrEqual(ATTEMPTS_MAX);
        if (job.charged === ATTEMPTS_MAX) expect(job.state).toBe('FAILED');
        if (job.state !== 'IN_PROGRESS' || job.current === null) return;
        expect(taken.get(job.attempt) ?? job.current.token).toBe(job.current.token);
        taken.set(job.attempt, job.current.token);
      });
    }),
  );
});

test('the record is always whole', () => {
  fc.assert(
    fc.property(stories, (story) => {
      follow(story, ({ before, verdict: { job } }) => {
        if (job.state === 'IN_QUEUE') expect(job.current).toBeNull();
        if (job.state === 'IN_PROGRESS') expect(job.current).not.toBeNull();
        expect(job.endedAtMs !== null).toBe(isEnded(job.state));
        expect(job.error !== null).toBe(job.state === 'FAILED' || job.state === 'TIMED_OUT');
        expect(job.history.length).toBeGreaterThanOrEqual(before.history.length);
        const attempts = job.history.map(({ attempt }) => attempt);
        expect(attempts).toEqual([...new Set(attempts)].toSorted((a, b) => a - b));
        expect({ ...job, input: 0, expiresAtMs: 0 }).toMatchObject({ id: queued.id, createdAtMs: T0 });
        expect(job.input).toBe(queued.input);
        expect(job.expiresAtMs).toBe(queued.expiresAtMs);
      });
    }),
  );
});

test('a job that is gone changes no more', () => {
  fc.assert(
    fc.property(stories, (story) => {
      follow(story, ({ before, verdict, nowMs }) => {
        if (isGone(before, nowMs)) expect(verdict.kind).not.toBe('changed');
      });
    }),
  );
});

test('the same step again changes nothing more, as a repeated message must not', () => {
  fc.assert(
    fc.property(stories, step, fc.nat(4_000), (story, again, afterMs) => {
      let job = queued;
      let atMs = T0;
      follow(story, ({ verdict, nowMs }) => {
        job = verdict.job;
        atMs = nowMs;
      });
      fc.pre(again.name !== 'progress');
      const once = again.run(job, atMs + afterMs).job;
      expect(again.run(once, atMs + afterMs).kind).not.toBe('changed');
    }),
  );
});
