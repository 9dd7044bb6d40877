import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AccountId, EndpointId, HostId, JobId, WorkerId } from '../ids.js';
import { encodeJson } from '../json/index.js';
import { isGone, isPurged } from './expiry.js';
import { canMove, isEnded } from './job-state.js';
import type { Job } from './job.js';
import type { Payload } from './payload.js';
import { purgeJob } from './purge-job.js';
import { replaceLife } from './replace-life.js';
import { retryJob } from './retry-job.js';
import { ATTEMPTS_MAX } from './retry-schedule.js';
import { settleStop } from './settle-stop.js';
import { cancelJob, finishJob, loseAttempt, reportProgress, takeJob, timeOutJob } from './transitions.js';
import type { Verdict } from './verdict.js';

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
  milestones: [],
  reservation: null,
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
      'retry',
      'retry',
      'purge',
      'replace-life',
      'settle-stop',
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
        case 'retry':
          return retryJob(job, nowMs);
        case 'purge':
          return purgeJob(job, attempt, nowMs);
        case 'replace-life':
          return replaceLife(job, 1_000 + 20 * delayMs, nowMs);
        case 'settle-stop':
          return settleStop(job, { attempt, token, stoppedAtMs: nowMs - delayMs }, nowMs);
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

test('a job moves only along the table, and only a retry leaves an ended state', () => {
  fc.assert(
    fc.property(stories, (story) => {
      follow(story, ({ before, verdict, step: { name } }) => {
        if (isEnded(before.state) && name !== 'retry') expect(verdict.job.state).toBe(before.state);
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

test('an attempt number never repeats, and a fault costs a bounded number of them until a caller asks anew', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const taken = new Map<number, string>();
      follow(story, ({ before, verdict: { job }, step: { name } }) => {
        const isRequeued = before.state !== 'IN_QUEUE' && job.state === 'IN_QUEUE';
        expect(job.attempt).toBe(before.attempt + (isRequeued ? 1 : 0));
        if (name !== 'retry') expect(job.charged).toBeGreaterThanOrEqual(before.charged);
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
      follow(story, ({ before, verdict: { job }, step: { name } }) => {
        if (job.state === 'IN_QUEUE') expect(job.current).toBeNull();
        if (job.state === 'IN_PROGRESS') expect(job.current).not.toBeNull();
        expect(job.endedAtMs !== null).toBe(isEnded(job.state));
        expect(job.error !== null).toBe(job.state === 'FAILED' || job.state === 'TIMED_OUT');
        if (!isPurged(job)) expect(job.history.length).toBeGreaterThanOrEqual(before.history.length);
        const attempts = job.history.map(({ attempt }) => attempt);
        expect(attempts).toEqual([...new Set(attempts)].toSorted((a, b) => a - b));
        expect({ ...job, input: 0, expiresAtMs: 0 }).toMatchObject({ id: queued.id, createdAtMs: T0 });
        if (!isPurged(job)) expect(job.input).toBe(queued.input);
        if (name !== 'replace-life' && name !== 'purge') expect(job.expiresAtMs).toBe(before.expiresAtMs);
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

test('a retry shows nothing of what the attempts before it gave, and begins without a charge', () => {
  fc.assert(
    fc.property(stories, (story) => {
      follow(story, ({ verdict: { kind, job }, step: { name } }) => {
        if (name !== 'retry' || kind !== 'changed') return;
        expect(job).toMatchObject({ output: null, error: null, chunks: 0, charged: 0, endedAtMs: null });
      });
    }),
  );
});

test('only a job that waits is purged, and a purged job is gone by every clock', () => {
  fc.assert(
    fc.property(stories, fc.nat(), (story, nowMs) => {
      follow(story, ({ before, verdict: { job } }) => {
        if (isPurged(before) || !isPurged(job)) return;
        expect(before.state).toBe('IN_QUEUE');
        expect(isGone(job, nowMs)).toBe(true);
      });
    }),
  );
});

test('how long a worker took to let go is told once, and of ended attempts only', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const told = new Map<number, number>();
      follow(story, ({ verdict: { job } }) => {
        for (const { attempt, outcome, stoppedAtMs, startedAtMs } of job.history) {
          if (stoppedAtMs === null) continue;
          expect(['CANCELLED', 'TIMED_OUT']).toContain(outcome);
          expect(stoppedAtMs).toBeGreaterThanOrEqual(startedAtMs);
          expect(stoppedAtMs).toBe(told.get(attempt) ?? stoppedAtMs);
          told.set(attempt, stoppedAtMs);
        }
      });
    }),
  );
});
