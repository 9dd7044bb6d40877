import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PullProgress, type PullEvent } from './pull-progress.js';

type Bytes = readonly [current: number, total?: number];

const at = (id: string, status: string, ...[current, total]: Bytes | readonly []): PullEvent => ({
  id,
  status,
  progressDetail: { ...(current === undefined ? {} : { current }), ...(total === undefined ? {} : { total }) },
});

const readings = (...events: readonly PullEvent[]): readonly (number | null)[] => {
  const progress = new PullProgress();
  return events.map((event) => progress.take(event));
};

test('a layer is half done when it has been downloaded, and done when it has been extracted', () => {
  expect(
    readings(
      { id: 'latest', status: 'Pulling from team/worker' },
      at('a', 'Pulling fs layer'),
      at('a', 'Downloading', 25, 100),
      at('a', 'Verifying Checksum'),
      at('a', 'Extracting', 50, 100),
      at('a', 'Pull complete'),
      { status: 'Status: Downloaded newer image for team/worker:latest' },
    ),
  ).toEqual([null, null, 12, 50, 75, 100, 100]);
});

test('a layer of unknown size counts as large as the mean of the others', () => {
  expect(readings(at('a', 'Pulling fs layer'), at('b', 'Waiting'), at('a', 'Download complete'))).toEqual([
    null,
    null,
    null,
  ]);
  expect(readings(at('b', 'Waiting'), at('a', 'Downloading', 100, 100)).at(-1)).toBe(25);
});

test('a layer that is here already is done; an engine that counts extraction in seconds tells no share of it', () => {
  expect(readings(at('a', 'Already exists'), at('b', 'Downloading', 100, 100), at('b', 'Extracting', 3))).toEqual([
    null,
    75,
    75,
  ]);
});

test('the reading never goes back, and is a share', () => {
  const event = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    status: fc.constantFrom(
      'Waiting',
      'Downloading',
      'Download complete',
      'Extracting',
      'Pull complete',
      'Already exists',
    ),
    progressDetail: fc.record({ current: fc.nat(300), total: fc.nat(200) }),
  });
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const told = readings(...events).filter((reading) => reading !== null);
      expect(told).toEqual(told.toSorted((a, b) => a - b));
      expect(told.every((reading) => Number.isSafeInteger(reading) && reading >= 0 && reading <= 100)).toBe(true);
    }),
  );
});
