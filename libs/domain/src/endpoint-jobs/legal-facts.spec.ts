import { expect, test } from '@jest/globals';
import { dumpState } from '../../test/endpoint-jobs/dump-state.js';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import type { HostId, JobId, WorkerId } from '../ids.js';
import { applyFact } from './apply/apply-fact.js';
import type { LogFact, LogFactKind } from './facts.js';
import { LEGAL_FACTS, type FactSubject } from './legal-facts.js';

const WEBHOOK = { webhook: 'https://example.com' };

/** Brings what facts are about into each state; returns the job that they name. */
const SETTING: Readonly<Record<FactSubject, (scene: Scene) => JobId>> = {
  endpoint: (scene) => scene.submit(),
  'deleted-endpoint': (scene) => {
    const jobId = scene.submit();
    scene.ask({ kind: 'delete' });
    return jobId;
  },
  'no-job': () => 'nobody' as JobId,
  IN_QUEUE: (scene) => scene.submit(),
  IN_PROGRESS: (scene) => {
    scene.submit();
    return scene.takeOne().jobId;
  },
  COMPLETED: (scene) => end(scene, 'COMPLETED'),
  FAILED: (scene) => end(scene, 'FAILED'),
  TIMED_OUT: (scene) => end(scene, 'TIMED_OUT'),
  CANCELLED: (scene) => {
    const jobId = scene.submit();
    scene.ask({ kind: 'cancel', jobId });
    return jobId;
  },
  'no-delivery': (scene) => end(scene, 'COMPLETED'),
  'delivery-waits': (scene) => end(scene, 'COMPLETED', WEBHOOK),
  'delivery-is-tried': (scene) => {
    const jobId = end(scene, 'COMPLETED', WEBHOOK);
    scene.ask({ kind: 'begin-try', jobId, attempt: 1, token: 'd1' });
    return jobId;
  },
};

function end(scene: Scene, state: 'COMPLETED' | 'FAILED' | 'TIMED_OUT', more: object = {}): JobId {
  const jobId = scene.submit(more);
  scene.finish(scene.takeOne(), state, state === 'COMPLETED' ? null : 'boom');
  return jobId;
}

/** A fact of each kind that is right in everything but, perhaps, the state of what it is about. */
function factsOf(scene: Scene, jobId: JobId): readonly LogFact[] {
  const { jobs, nextOrdinal } = scene.state;
  const atMs = scene.nowMs;
  const attempt = jobs.get(jobId)?.data.attempt ?? 1;
  const current = jobs.get(jobId)?.data.current;
  const { ttlMs, ...wish } = scene.wish({ jobId });
  const job = { ...wish, ordinal: nextOrdinal, expiresAtMs: atMs + ttlMs, key: null };
  const taking = { attempt, token: 't', hostId: 'h' as HostId, workerId: 'w' as WorkerId, takeId: 'x' };
  const summary = {
    origin: 'run',
    createdAtMs: 0,
    queuedAtMs: 0,
    attempt,
    startedAtMs: 0,
    hostId: null,
    workerId: null,
    webhook: null,
  } as const;
  const next = { queuePlace: nextOrdinal, notBeforeMs: atMs };
  const shown = { output: null, outputBytes: 0, chunks: 0, logTail: [] };
  const of = { atMs, jobId };
  const ofAttempt = { ...of, attempt };
  const token = current?.token ?? 't';
  const claim = scene.state.deliveries.get(`${jobId}/${attempt}`)?.data.claim?.token ?? 't';
  return [
    { kind: 'submitted', atMs, job },
    { kind: 'born-taken', atMs, job, taking },
    { kind: 'taken', ...of, taking },
    { kind: 'started', ...ofAttempt },
    { kind: 'progressed', ...ofAttempt, output: { kind: 'inline', json: '1' as never }, outputBytes: 1 },
    { kind: 'finished', ...ofAttempt, ...shown, token, state: 'COMPLETED', error: null, summary },
    {
      kind: 'lost',
      ...ofAttempt,
      reason: 'r',
      charged: 0,
      unstarted: 1,
      logTail: [],
      next,
      error: null,
      summary,
    },
    { kind: 'cancelled', ...of, summary },
    { kind: 'timed-out', ...ofAttempt, error: 'e', summary },
    { kind: 'let-go', ...ofAttempt, createdAtMs: 0, stoppedAtMs: atMs, logTail: [] },
    { kind: 'retried', ...of, attempt: attempt + 1, createdAtMs: 0, retryId: 'r', next },
    { kind: 'life-changed', ...of, expiresAtMs: atMs + 1, retentionMs: 1 },
    { kind: 'delivery-tried', ...ofAttempt, token: 'd', untilMs: atMs + 1 },
    {
      ...{ kind: 'delivery-ended', ...ofAttempt, token: claim, nextAtMs: atMs },
      ...{ result: { statusCode: 200, error: null }, outcome: 'delivered' },
    },
  ];
}

const ENDPOINT_KINDS: readonly LogFactKind[] = ['opened', 'purged', 'expired', 'totals', 'endpoint-deleted', 'carried'];

test.each(Object.keys(LEGAL_FACTS) as FactSubject[])(
  'in the state %s only the facts of the table are applied, and any other changes nothing',
  (subject) => {
    const samples = factsOf(new Scene(), 'nobody' as JobId).map(({ kind }) => kind);
    for (const [at, kind] of samples.entries()) {
      const scene = new Scene();
      const jobId = SETTING[subject](scene);
      const fact = factsOf(scene, jobId)[at] as LogFact;
      const before = JSON.stringify(dumpState(scene.state, scene.nowMs));
      const applied = applyFact(scene.state, fact, { sequence: null });
      const isOfDelivery = kind.startsWith('delivery-');
      const isAbout = subject.includes('delivery') ? isOfDelivery : !isOfDelivery && subject !== 'endpoint';
      if (!isAbout && subject !== 'deleted-endpoint') continue;
      expect([kind, applied.kind]).toEqual([kind, LEGAL_FACTS[subject].includes(kind) ? 'applied' : 'illegal']);
      if (applied.kind === 'illegal') expect(JSON.stringify(dumpState(scene.state, scene.nowMs))).toBe(before);
    }
    expect([...samples, ...ENDPOINT_KINDS]).toEqual(expect.arrayContaining([...LEGAL_FACTS[subject]]));
  },
);

test('a fact of an earlier instant, of another attempt and of another holder is illegal', () => {
  const scene = new Scene();
  const jobId = SETTING.IN_PROGRESS(scene);
  const apply = (fact: LogFact): unknown => applyFact(scene.state, fact, { sequence: null });
  const started = { kind: 'started', atMs: scene.nowMs, jobId, attempt: 1 } as const;
  const finished = factsOf(scene, jobId).find(({ kind }) => kind === 'finished') as Extract<
    LogFact,
    { kind: 'finished' }
  >;
  expect(apply({ ...started, atMs: scene.nowMs - 1 })).toMatchObject({ kind: 'illegal', why: 'before-the-last' });
  expect(apply({ ...started, attempt: 2 })).toMatchObject({ kind: 'illegal', why: 'other-attempt' });
  expect(apply({ ...finished, token: 'forged' })).toMatchObject({ kind: 'illegal', why: 'other-token' });
  expect(apply({ kind: 'opened', atMs: scene.nowMs, term: 1, routerId: 'r2' })).toMatchObject({ why: 'other-owner' });
});
