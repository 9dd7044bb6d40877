import type { JobId, LogFact } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { readHistoryFacts } from './read-history-facts.js';

const OF = { atMs: 5, jobId: 'j1' as JobId } as const;
const SUMMARY = {
  origin: 'run',
  createdAtMs: 1,
  queuedAtMs: 1,
  attempt: 1,
  startedAtMs: null,
  hostId: null,
  workerId: null,
  webhook: null,
} as const;
const CANCELLED: LogFact = { kind: 'cancelled', ...OF, summary: SUMMARY };
const FACTS: readonly LogFact[] = [
  { kind: 'opened', atMs: 1, term: 1, routerId: 'r1' },
  {
    ...{ kind: 'finished', ...OF, attempt: 1, token: 't', state: 'FAILED', error: 'e', chunks: 0, logTail: ['bye'] },
    ...{ output: null, outputBytes: 0, summary: { ...SUMMARY, startedAtMs: 2, hostId: 'h', workerId: 'w' } as never },
  },
  {
    ...{ kind: 'lost', ...OF, attempt: 1, reason: 'r', charged: 1, unstarted: 0, logTail: [], error: null },
    ...{ next: { queuePlace: 3, notBeforeMs: 9 }, summary: SUMMARY },
  },
  { kind: 'started', ...OF, attempt: 2 },
  { kind: 'timed-out', ...OF, attempt: 2, error: 'e', summary: SUMMARY },
  CANCELLED,
  { kind: 'let-go', ...OF, attempt: 1, createdAtMs: 1, stoppedAtMs: 4, logTail: [] },
  { kind: 'retried', ...OF, attempt: 2, createdAtMs: 1, retryId: 'r', next: { queuePlace: 4, notBeforeMs: 5 } },
];

const changed = (fact: LogFact, change: object): readonly LogFact[] => [{ ...fact, ...change }];

describe('the facts of a batch that the job history is made of', () => {
  test('are those of attempts that are over, and of what comes after', () => {
    expect(readHistoryFacts(FACTS)).toEqual({
      kind: 'value',
      value: FACTS.filter(({ kind }) => kind !== 'opened' && kind !== 'started'),
    });
  });

  test.each([
    [changed(CANCELLED, { summary: undefined }), 'fact 0 (cancelled): $.summary must be an object'],
    [
      changed(CANCELLED, { summary: { ...SUMMARY, createdAtMs: '1' } }),
      '$.summary.createdAtMs must be an instant in Unix milliseconds',
    ],
    [
      changed(CANCELLED, { summary: { ...SUMMARY, createdAtMs: 1e15 } }),
      '$.summary.createdAtMs must be an instant in Unix milliseconds',
    ],
    [changed(CANCELLED, { atMs: 1.5 }), '$.atMs must be an instant in Unix milliseconds'],
    [
      changed(CANCELLED, { summary: { ...SUMMARY, attempt: -1 } }),
      '$.summary.attempt must be a whole number from 0 on',
    ],
    [changed(CANCELLED, { jobId: 'a.b' }), '$.jobId must be an id'],
    [changed(CANCELLED, { kind: 'timed-out' }), '$.error must be a text'],
    [
      [FACTS[0], ...changed(CANCELLED, { kind: 'let-go' })] as LogFact[],
      'fact 1 (let-go): $.attempt must be a whole number from 0 on',
    ],
    [
      changed(CANCELLED, { kind: 'finished', state: 'IN_QUEUE' }),
      '$.state must be one of COMPLETED, FAILED, TIMED_OUT',
    ],
  ])('make it unreadable where one is none: %#', (facts, reason) => {
    expect(readHistoryFacts(facts)).toEqual({ kind: 'unreadable', reason: expect.stringContaining(reason) });
  });
});
