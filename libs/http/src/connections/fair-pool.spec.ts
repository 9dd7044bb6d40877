import { expect, test } from '@jest/globals';
import { FairPool } from './fair-pool.js';

test('has room for everybody until it is full', () => {
  const pool = new FairPool<string>({ membersMax: 2 });
  expect([pool.add('a', 'x'), pool.add('b', 'y'), pool.size]).toEqual([undefined, undefined, 2]);
});

test('a flood of one group sends its own away, oldest first, and never those of small groups', () => {
  const pool = new FairPool<string>({ membersMax: 4 });
  pool.add('victim', 'small');
  const left = Array.from({ length: 10 }, (_, n) => pool.add(`flood-${n}`, 'large'));
  expect(left.filter((each) => each !== undefined)).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `flood-${n}`));
  expect(pool.add('newcomer', 'other')).toBe('flood-7');
  expect([pool.has('victim'), pool.has('newcomer'), pool.size]).toEqual([true, true, 4]);
});

test('sends an idle member away before one that is at work, however old that is', () => {
  const pool = new FairPool<string>({ membersMax: 2, isIdle: (member) => member !== 'working' });
  pool.add('working', 'x');
  pool.add('idle', 'x');
  expect(pool.add('next', 'x')).toBe('idle');
});

test('forgets who leaves by itself', () => {
  const pool = new FairPool<string>({ membersMax: 1 });
  pool.add('a', 'x');
  pool.remove('a');
  pool.remove('a');
  expect([pool.add('b', 'x'), pool.size]).toEqual([undefined, 1]);
});
