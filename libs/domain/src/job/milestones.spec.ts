import { describe, expect, test } from '@jest/globals';
import type { Job, Milestone } from './job.js';
import { isEnd, milestonesBehind, requeuesOf } from './milestones.js';

const version = (state: Job['state'], attempt: number, milestones: readonly Milestone[] = []): Job =>
  ({ state, attempt, milestones }) as Job;

const LOST: Milestone = { sequence: 7, state: 'IN_QUEUE', attempt: 2 };
const FAILED: Milestone = { sequence: 9, state: 'FAILED', attempt: 2 };

describe('milestones', () => {
  test.each<[string, Job, readonly [number, boolean]]>([
    ['a submission', version('IN_QUEUE', 1), [0, false]],
    ['a first end', version('COMPLETED', 1), [0, true]],
    ['a requeue', version('IN_QUEUE', 2), [1, false]],
    ['a take after a requeue', version('IN_PROGRESS', 2, [LOST]), [0, false]],
    ['an end after a requeue', version('FAILED', 2, [LOST]), [0, true]],
    ['an end that is written over', version('FAILED', 2, [LOST, FAILED]), [0, false]],
    ['a retry', version('IN_QUEUE', 3, [LOST, FAILED]), [1, false]],
    ['the same end of another attempt', version('FAILED', 3, [FAILED, { ...LOST, attempt: 3 }]), [0, true]],
  ])('%s', (_what, job, [requeues, isItsEnd]) => {
    expect([requeuesOf(job), isEnd(job)]).toEqual([requeues, isItsEnd]);
  });

  test('a version that counts is remembered by the next one, and no other', () => {
    expect(milestonesBehind(version('IN_PROGRESS', 2, [LOST]), 8)).toEqual([LOST]);
    expect(milestonesBehind(version('FAILED', 2, [LOST]), 9)).toEqual([LOST, FAILED]);
    expect(milestonesBehind(version('FAILED', 2, [LOST, FAILED]), 11)).toEqual([LOST, FAILED]);
    expect(milestonesBehind(version('IN_QUEUE', 2), 7)).toEqual([LOST]);
  });

  test('attempts without number leave the newest', () => {
    let milestones: readonly Milestone[] = [];
    for (let attempt = 2; attempt < 100; attempt += 1) {
      milestones = milestonesBehind(version('IN_QUEUE', attempt, milestones), attempt);
    }
    expect(milestones).toHaveLength(32);
    expect(milestones.at(-1)).toEqual({ sequence: 99, state: 'IN_QUEUE', attempt: 99 });
    expect(requeuesOf(version('IN_QUEUE', 100, milestones))).toBe(1);
  });
});
