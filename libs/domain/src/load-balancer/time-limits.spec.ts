import { describe, expect, test } from '@jest/globals';
import { readAffinity } from './affinity.js';
import { endpointIdOfHost } from './host-name.js';
import fc from 'fast-check';
import { bodyDueAfter, nextLimit } from './time-limits.js';

const LIMITS = { firstByteMs: 300, idleMs: 100, totalMs: 1_000, leastBytesPerSecond: 100 };

test.each([
  ['sending', 150, { atMs: 180, code: 'request-timeout' }],
  ['awaiting', 150, { atMs: 450, code: 'worker-answer-timeout' }],
  ['answering', 150, { atMs: 250, code: 'worker-idle-timeout' }],
  ['answering', 950, { atMs: 1_010, code: 'worker-total-timeout' }],
  ['awaiting', 900, { atMs: 1_010, code: 'worker-total-timeout' }],
  ['open', 5_000, { atMs: 5_100, code: 'worker-idle-timeout' }],
] as const)('%s since %d ms: the limit that comes first', (phase, movedAtMs, due) => {
  const progress = { phase, admittedAtMs: 10, movedAtMs, bodyDueAtMs: 180, isHeldUp: false };
  expect(nextLimit(progress, LIMITS)).toEqual(due);
});

test('a body that the worker does not take is no fault of its caller', () => {
  const progress = { phase: 'sending', admittedAtMs: 10, movedAtMs: 150, bodyDueAtMs: 180, isHeldUp: true } as const;
  expect(nextLimit(progress, LIMITS)).toEqual({ atMs: 250, code: 'worker-idle-timeout' });
});

describe('the body of a request', () => {
  const pieces = fc.array(fc.record({ bytes: fc.nat(50), afterMs: fc.nat(150) }), { maxLength: 60 });

  test('that comes below the least rate is late by the idle time and what its bytes were worth', () => {
    fc.assert(
      fc.property(pieces, (coming) => {
        let [nowMs, bytes, dueAtMs] = [0, 0, LIMITS.idleMs];
        for (const piece of coming) {
          nowMs += piece.afterMs;
          if (nowMs >= dueAtMs) return;
          bytes += piece.bytes;
          dueAtMs = bodyDueAfter(dueAtMs, { bytes: piece.bytes, nowMs }, LIMITS);
          expect(dueAtMs).toBeLessThanOrEqual(LIMITS.idleMs + (bytes / LIMITS.leastBytesPerSecond) * 1_000 + 1e-6);
          expect(dueAtMs).toBeLessThanOrEqual(nowMs + LIMITS.idleMs);
        }
      }),
    );
  });

  test('that keeps the least rate, with pauses below the idle time, is never late', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(LIMITS.idleMs - 1), { maxLength: 60 }), (pauses) => {
        let [nowMs, dueAtMs] = [0, LIMITS.idleMs];
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          expect(nowMs).toBeLessThan(dueAtMs + 1e-6);
          const bytes = Math.ceil((pauseMs / 1_000) * LIMITS.leastBytesPerSecond);
          dueAtMs = bodyDueAfter(dueAtMs, { bytes, nowMs }, LIMITS);
        }
      }),
    );
  });
});

test.each([
  [undefined, { kind: 'any' }],
  ['', { kind: 'any' }],
  ['two words', { kind: 'any' }],
  [' w1 ', { kind: 'prefer', workerId: 'w1' }],
  ['strict w1', { kind: 'only', workerId: 'w1' }],
  ['Strict-Resume  w1', { kind: 'only', workerId: 'w1' }],
  ['strict', { kind: 'prefer', workerId: 'strict' }],
])('%j wants', (header, affinity) => {
  expect(readAffinity(header)).toEqual(affinity);
});

describe('a host name', () => {
  test.each([
    ['ep1.lb.test', 'lb.test', 'ep1'],
    ['EP1.LB.test:443', 'lb.Test:8001', 'ep1'],
    ['ep1.lb.test.', 'lb.test', 'ep1'],
    ['a.b.lb.test', 'lb.test', 'a.b'],
    ['lb.test', 'lb.test', null],
    ['.lb.test', 'lb.test', null],
    ['ep1.other', 'lb.test', null],
    ['ep1xlb.test', 'lb.test', null],
    [undefined, 'lb.test', null],
  ])('%s under %s is that of %s', (host, domain, id) => {
    expect(endpointIdOfHost(host, domain)).toBe(id);
  });
});
