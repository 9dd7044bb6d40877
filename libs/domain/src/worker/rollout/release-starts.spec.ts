import { describe, expect, test } from '@jest/globals';
import { NOW_MS, sampleWorker, type WorkerFacts } from '../../../test/worker/sample-worker.js';
import {
  countStarts,
  describeCrashLoop,
  isCrashLooping,
  newReleaseStarts,
  type ReleaseStarts,
} from './release-starts.js';

type Seen = Readonly<Record<string, WorkerFacts>>;

const count = (
  before: ReleaseStarts | null,
  seen: Seen,
  { nowMs = NOW_MS, release = 1 }: { readonly nowMs?: number; readonly release?: number } = {},
): ReleaseStarts => {
  const workers = Object.entries(seen).map(([id, facts]) => sampleWorker(id, facts).worker);
  return countStarts(before, { release, workers }, nowMs);
};

/** The count after each of these, one after the other. */
const counts = (...seen: readonly Seen[]): readonly number[] => {
  let starts: ReleaseStarts | null = null;
  return seen.map((each) => (starts = count(starts, each)).failedStarts);
};

const failed = (failedStarts: number): WorkerFacts => ({ phase: 'waiting', failedStarts });

describe('failed starts of a release are counted', () => {
  test.each<[string, readonly Seen[], readonly number[]]>([
    [
      'over all its workers',
      [
        { a: failed(1), b: failed(2) },
        { a: failed(2), b: failed(2) },
      ],
      [3, 4],
    ],
    ['once, however often they are seen', [{ a: failed(2) }, { a: failed(2) }, { a: failed(2) }], [2, 2, 2]],
    ['also of workers that are gone since', [{ a: failed(3) }, {}, { b: failed(1) }], [3, 3, 4]],
    ['also where an agent begins a new row of failures', [{ a: failed(3) }, { a: failed(1) }], [3, 4]],
    ['until one of its workers is up', [{ a: failed(4) }, { a: { phase: 'idle', failedStarts: 4 } }, {}], [4, 0, 0]],
    [
      'not again, of a worker that was up and still says them',
      [{ a: { phase: 'busy', failedStarts: 4 } }, { a: failed(5) }],
      [0, 1],
    ],
    [
      'until a restart is asked for',
      [{ a: failed(4) }, { a: { ...failed(4), restarts: 1 } }, { a: { ...failed(1), restarts: 1 } }],
      [4, 0, 1],
    ],
    ['not those of older releases', [{ a: { ...failed(4), release: 0 } }], [0]],
  ])('%s', (...[, seen, expected]) => {
    expect(counts(...seen)).toEqual(expected);
  });
});

test('five without a success are a crash loop, since the look that saw the fifth', () => {
  const four = count(null, { a: failed(2), b: failed(2) });
  expect(isCrashLooping(four)).toBe(false);
  const five = count(four, { a: failed(3), b: failed(2) }, { nowMs: NOW_MS + 1 });
  expect(isCrashLooping(five)).toBe(true);
  const six = count(five, { a: failed(4) }, { nowMs: NOW_MS + 2 });
  expect(six).toMatchObject({ failedStarts: 6, loopingSinceMs: NOW_MS + 1, lastFailure: '4 failed starts' });
  expect(describeCrashLoop(six)).toBe(
    'release 1 does not come up, 6 starts have failed and one worker goes on trying; the last: 4 failed starts',
  );
});

test.each(['draining', 'removed'] as const)('a worker that is %s does not say how its last start failed', (phase) => {
  const five = count(null, { a: failed(3), b: failed(2) });
  const six = count(five, { a: failed(3), b: { phase, failedStarts: 3 } });
  expect(six).toMatchObject({ failedStarts: 6, lastFailure: five.lastFailure });
});

test('another release begins with nothing against it', () => {
  const looping = count(null, { a: failed(5) });
  expect(count(looping, { a: failed(5) }, { release: 2 })).toEqual(newReleaseStarts(2));
});

test('a release of which a worker was up once is known to come up, whatever follows', () => {
  const up = count(null, { a: { phase: 'idle' } });
  expect(count(up, { a: failed(5) })).toMatchObject({ hasBeenUp: true, failedStarts: 5, loopingSinceMs: NOW_MS });
});
