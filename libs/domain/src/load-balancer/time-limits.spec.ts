import { describe, expect, test } from '@jest/globals';
import { readAffinity } from './affinity.js';
import { endpointIdOfHost } from './host-name.js';
import { nextLimit } from './time-limits.js';

const LIMITS = { firstByteMs: 300, idleMs: 100, totalMs: 1_000 };

test.each([
  ['sending', 150, { atMs: 250, code: 'request-timeout' }],
  ['awaiting', 150, { atMs: 450, code: 'worker-answer-timeout' }],
  ['answering', 150, { atMs: 250, code: 'worker-idle-timeout' }],
  ['answering', 950, { atMs: 1_010, code: 'worker-total-timeout' }],
  ['awaiting', 900, { atMs: 1_010, code: 'worker-total-timeout' }],
  ['open', 5_000, { atMs: 5_100, code: 'worker-idle-timeout' }],
] as const)('%s since %d ms: the limit that comes first', (phase, movedAtMs, due) => {
  expect(nextLimit({ phase, admittedAtMs: 10, movedAtMs }, LIMITS)).toEqual(due);
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
