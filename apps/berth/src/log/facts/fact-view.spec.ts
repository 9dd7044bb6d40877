import { encodeJson, type LogFact, type LogFactKind, type Payload } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { viewFact } from './fact-view.js';

const AT = 1_800_000_000_000;
const SECRET = 'secret';
const inline = (text: string): Payload => ({ kind: 'inline', json: encodeJson(text) });
const BLOB: Payload = { kind: 'blob', manifest: { name: 'in', parts: 3, sizeBytes: 1_400_000, sha256: SECRET } };
const BODY = { input: inline('input'), extras: encodeJson({}), sealedExtras: SECRET, traceparent: SECRET };
const OF_JOB = { atMs: AT, jobId: 'j' };
const OF_ATTEMPT = { ...OF_JOB, attempt: 2 };
const TAKING = { attempt: 1, token: SECRET, hostId: 'h', workerId: 'w', takeId: SECRET };
const SUMMARY = {
  origin: 'run',
  createdAtMs: 1,
  queuedAtMs: 1,
  attempt: 2,
  startedAtMs: 1,
  hostId: 'h',
  workerId: 'w',
};
const ACCEPTED = {
  ...{ jobId: 'j', ordinal: 1, origin: 'run', expiresAtMs: AT + 86_400_000, retentionMs: 1, executionTimeoutMs: 1 },
  ...{ isLowPriority: false, webhook: null, bodyBytes: 7, body: BODY, key: null },
};
const JOB = { ...ACCEPTED, state: 'FAILED', attempt: 2, current: { ...TAKING }, history: [], error: SECRET };
const DELIVERY = {
  ...{ jobId: 'j', attempt: 2, url: `https://u:${SECRET}@hooks.example.com/${SECRET}`, createdAtMs: 1 },
  ...{ tries: [{}], nextAtMs: 1, claim: { token: SECRET, untilMs: 1 }, outcome: null, endedAtMs: null, told: JOB },
};

/** One of each kind or more, and what is told of it; no kind may be missing. */
const STORY: Readonly<Record<LogFactKind, readonly (readonly [fact: object, told: string])[]>> = {
  submitted: [
    [{ atMs: AT, job: ACCEPTED }, 'j: run, input 7 B, sealed 6 B, lives 1 d'],
    [
      {
        atMs: AT,
        job: {
          ...ACCEPTED,
          ...{ isLowPriority: true, webhook: DELIVERY.url },
          ...{ body: { ...BODY, input: BLOB, extras: encodeJson({ a: 1 }), sealedExtras: null } },
          ...{ key: { name: SECRET, fingerprint: SECRET, firstId: 'j', size: 3, item: 1 } },
        },
      },
      'j: run, low priority, input 1.3 MiB, beside the log in 3 parts, extras 7 B, lives 1 d, webhook hooks.example.com, item 2 of 3 under a key',
    ],
  ],
  'born-taken': [
    [{ atMs: AT, job: ACCEPTED, taking: TAKING }, 'j/1: worker w, host h, run, input 7 B, sealed 6 B, lives 1 d'],
  ],
  taken: [[{ ...OF_JOB, taking: TAKING }, 'j/1: worker w, host h']],
  started: [[OF_ATTEMPT, 'j/2: ']],
  progressed: [[{ ...OF_ATTEMPT, output: inline('output'), outputBytes: 8 }, 'j/2: output 8 B']],
  finished: [
    [
      {
        ...{ ...OF_ATTEMPT, token: SECRET, state: 'FAILED', error: 'error', output: inline('output') },
        ...{ outputBytes: 8, chunks: 2, logTail: ['tail'], summary: SUMMARY },
      },
      'j/2: FAILED, output 8 B, error 5 B, 2 chunks, log tail 4 B, worker w',
    ],
    [
      {
        ...{ ...OF_ATTEMPT, token: SECRET, state: 'COMPLETED', error: null, output: null },
        ...{ outputBytes: 0, chunks: 0, logTail: [], summary: { ...SUMMARY, workerId: null } },
      },
      'j/2: COMPLETED',
    ],
  ],
  lost: [
    [
      {
        ...{ ...OF_ATTEMPT, reason: 'its host is gone', charged: 1, unstarted: 0, logTail: [], error: null },
        ...{ next: { queuePlace: 9, notBeforeMs: AT + 2_500 }, summary: null },
      },
      'j/2: its host is gone, charged 1, queue place 9, in 2.5 s',
    ],
    [
      {
        ...{ ...OF_ATTEMPT, reason: 'again', charged: 3, unstarted: 2, logTail: ['tail'], error: SECRET },
        ...{ next: null, summary: SUMMARY },
      },
      'j/2: again, charged 3, unstarted 2, log tail 4 B, its last attempt',
    ],
  ],
  cancelled: [
    [{ ...OF_JOB, summary: SUMMARY }, 'j/2: worker w'],
    [{ ...OF_JOB, summary: { ...SUMMARY, workerId: null } }, 'j/2: '],
  ],
  'timed-out': [[{ ...OF_ATTEMPT, error: 'too long', summary: SUMMARY }, 'j/2: too long, worker w']],
  'let-go': [
    [{ ...OF_ATTEMPT, stoppedAtMs: AT, logTail: ['tail'] }, `j/2: stopped 2027-01-15T08:00:00.000Z, log tail 4 B`],
  ],
  retried: [
    [{ ...OF_ATTEMPT, retryId: SECRET, next: { queuePlace: 9, notBeforeMs: 0 } }, 'j/2: queue place 9, in 0 ms'],
  ],
  'life-changed': [
    [{ ...OF_JOB, expiresAtMs: AT + 90_000, retentionMs: 60_000 }, 'j: lives 90 s, kept 1 min after its end'],
  ],
  purged: [
    [
      { atMs: AT, purgeId: SECRET, through: { normal: 5, low: 0 }, count: 2, until: 9, isLast: false },
      '2 jobs, queue places through 5, low 0, more to come',
    ],
  ],
  expired: [
    [{ atMs: AT, before: { atMs: AT, ordinal: 1 }, count: 1 }, '1 job, whose life ended by 2027-01-15T08:00:00.000Z'],
  ],
  'delivery-tried': [
    [{ ...OF_ATTEMPT, token: SECRET, untilMs: AT }, 'j/2: its sender has until 2027-01-15T08:00:00.000Z'],
  ],
  'delivery-ended': [
    [
      { ...OF_ATTEMPT, token: SECRET, result: { statusCode: 500, error: 'no 2xx' }, outcome: null, nextAtMs: AT },
      'j/2: answer 500, no 2xx, again at 2027-01-15T08:00:00.000Z',
    ],
    [
      { ...OF_ATTEMPT, token: SECRET, result: { statusCode: 200, error: null }, outcome: 'delivered', nextAtMs: AT },
      'j/2: answer 200, delivered',
    ],
  ],
  carried: [
    [
      { atMs: AT, what: 'job', job: JOB, body: BODY, output: inline('output') },
      'j/2: job, FAILED, input 7 B, sealed 6 B, output 8 B',
    ],
    [
      { atMs: AT, what: 'key', key: { name: SECRET, fingerprint: SECRET, firstId: 'j', size: 3, accepted: 2 } },
      'key, 2 of 3 accepted',
    ],
    [
      { atMs: AT, what: 'delivery', delivery: DELIVERY, body: BODY, output: null },
      'j/2: delivery, webhook hooks.example.com, 1 try, not over, input 7 B, sealed 6 B',
    ],
  ],
  totals: [
    [
      {
        ...{ atMs: AT, covers: 41, life: { term: 3, nextOrdinal: 9, lastPurge: null, pace: [] } },
        counters: { completed: 1, failed: 2, cancelled: 3, timedOut: 4, retried: 5 },
      },
      'covers #41, term 3, completed 1, failed 2, cancelled 3, timed out 4, retried 5',
    ],
  ],
  opened: [[{ atMs: AT, term: 3, routerId: 'r1' }, 'by r1, term 3']],
  'endpoint-deleted': [[{ atMs: AT, term: 3 }, 'term 3']],
};

const facts = Object.entries(STORY).flatMap(([kind, samples]) =>
  samples.map(([members, told]) => [kind, told, { kind, ...members } as LogFact] as const),
);

function told(fact: LogFact): string {
  const { attempt, details, jobId } = viewFact(fact, { hasPayloads: false });
  const who = jobId === null ? '' : `${jobId}${attempt === null ? '' : `/${attempt}`}: `;
  return `${who}${details.map(({ text }) => text).join(', ')}`;
}

describe('a fact is told', () => {
  test.each(facts)('%s: %s', (_, text, fact) => {
    expect(told(fact)).toBe(text);
  });

  test.each(facts)('%s: without a secret, also where payloads are wanted', (_, __, fact) => {
    expect(JSON.stringify(viewFact(fact, { hasPayloads: true }))).not.toContain(SECRET);
  });

  test('with its payloads where they are wanted, each on a line of its own', () => {
    const [, , finished] = facts.find(([kind]) => kind === 'finished') ?? [];
    const long = viewFact(finished as LogFact, { hasPayloads: true }).details.filter(({ isLong }) => isLong);
    expect(long.map(({ name, text, value }) => [name, value, text])).toEqual([
      ['outputText', '"output"', 'output: "output"'],
      ['errorText', 'error', 'error: error'],
      ['logTailText', 'tail', 'log tail: tail'],
    ]);
  });

  test.each([
    [{ kind: 'toString', atMs: AT }],
    [{ kind: 'submitted', atMs: AT }],
    [{ kind: 'carried', atMs: AT, what: 'nothing' }],
    [{ kind: 'finished', atMs: AT, jobId: 'j', attempt: 1, output: {}, logTail: null }],
  ])('as strange where no owner wrote it so: %j', (fact) => {
    expect(told(fact as unknown as LogFact)).toBe('not a fact as owners write them');
  });
});
