import { describe, expect, test } from '@jest/globals';
import { FleetWalk } from '../../../test/worker/fleet-walk.js';

/** What happens between two looks, and what is there after the second. */
type Walk = readonly (readonly [(walk: FleetWalk) => void, string])[];

const everybodySteps = (walk: FleetWalk): void => {
  for (const index of walk.workers.keys()) walk.step(index);
};
const nothing = (): void => undefined;
const newRelease = (walk: FleetWalk): void => {
  walk.newRelease();
};
const brokenRelease = (walk: FleetWalk): void => {
  walk.newRelease(true);
};

describe('from one release to the next, look by look', () => {
  test.each<[string, { readonly desired: number; readonly max: number }, Walk]>([
    [
      'with one worker at most: the old one goes, the new one comes',
      { desired: 1, max: 1 },
      [
        [newRelease, '1- idle'],
        [nothing, '1- idle'],
        [everybodySteps, '1- draining'],
        [everybodySteps, '2 placed'],
        [everybodySteps, '2 starting'],
        [everybodySteps, '2 idle'],
      ],
    ],
    [
      'with one place to spare: a new one comes up before an old one goes',
      { desired: 2, max: 3 },
      [
        [newRelease, '1 idle, 1 idle, 2 placed'],
        [everybodySteps, '1 idle, 1 idle, 2 starting'],
        [everybodySteps, '1 idle, 1- idle, 2 idle'],
        [everybodySteps, '1 idle, 1- draining, 2 idle'],
        [everybodySteps, '1 idle, 2 idle, 2 placed'],
        [everybodySteps, '1 idle, 2 idle, 2 starting'],
        [everybodySteps, '1- idle, 2 idle, 2 idle'],
      ],
    ],
    [
      'at the maximum: one old worker makes room for the first, the others go one after another',
      { desired: 3, max: 3 },
      [
        [newRelease, '1 idle, 1 idle, 1- idle'],
        [everybodySteps, '1 idle, 1 idle, 1- draining'],
        [everybodySteps, '1 idle, 1 idle, 2 placed'],
        [everybodySteps, '1 idle, 1 idle, 2 starting'],
        [everybodySteps, '1 idle, 1- idle, 2 idle'],
        [everybodySteps, '1 idle, 1- draining, 2 idle'],
        [everybodySteps, '1 idle, 2 idle, 2 placed'],
      ],
    ],
    [
      'that does not come up: the old ones stay, and one goes on trying until it is mended',
      { desired: 2, max: 3 },
      [
        [brokenRelease, '1 idle, 1 idle, 2 placed'],
        ...Array.from({ length: 4 }, () => [
          [everybodySteps, '1 idle, 1 idle, 2 starting'] as const,
          [everybodySteps, '1 idle, 1 idle, 2 waiting'] as const,
        ]).flat(),
        [everybodySteps, '1 idle, 1 idle, 2 starting'],
        [everybodySteps, '1 idle, 1 idle, 2 unhealthy'],
        [everybodySteps, '1 idle, 1 idle, 2 starting'],
        [
          (walk) => {
            walk.mend();
            everybodySteps(walk);
          },
          '1 idle, 1- idle, 2 idle',
        ],
      ],
    ],
    [
      'that does not come up, and is taken back by one more release',
      { desired: 1, max: 2 },
      [
        [brokenRelease, '1 idle, 2 placed'],
        [everybodySteps, '1 idle, 2 starting'],
        [everybodySteps, '1 idle, 2 waiting'],
        [newRelease, '1 idle, 2- waiting'],
        [everybodySteps, '1 idle, 2- draining'],
        [everybodySteps, '1 idle, 3 placed'],
        [everybodySteps, '1 idle, 3 starting'],
        [everybodySteps, '1- idle, 3 idle'],
      ],
    ],
    [
      'with four wanted of eight: the window is one',
      { desired: 4, max: 8 },
      [
        [newRelease, '1 idle, 1 idle, 1 idle, 1 idle, 2 placed'],
        [everybodySteps, '1 idle, 1 idle, 1 idle, 1 idle, 2 starting'],
        [everybodySteps, '1 idle, 1 idle, 1 idle, 1- idle, 2 idle, 2 placed'],
        [everybodySteps, '1 idle, 1 idle, 1 idle, 1- draining, 2 idle, 2 starting'],
        [everybodySteps, '1 idle, 1 idle, 1- idle, 2 idle, 2 idle, 2 placed'],
      ],
    ],
  ])('%s', (...[, { desired, max }, steps]) => {
    const walk = new FleetWalk(desired, max);
    walk.settle(5);
    const seen = steps.map(([happens]) => {
      happens(walk);
      walk.look();
      return walk.toString();
    });
    expect(seen).toEqual(steps.map(([, expected]) => expected));
  });
});

test('a release that does not come up at first frees what its workers hold, and comes whole once one is up', () => {
  const walk = new FleetWalk(3, 3);
  walk.mend(true);
  walk.settle(3);
  expect(walk.toString()).toBe('1 waiting, 1 waiting, 1 waiting');
  walk.settle(10);
  expect(walk.workers).toHaveLength(1);
  walk.mend();
  walk.settle(10);
  expect(walk.toString()).toBe('1 idle, 1 idle, 1 idle');
});

test('a restart that somebody asks for starts afresh', () => {
  const walk = new FleetWalk(3, 3);
  walk.mend(true);
  walk.settle(12);
  expect(walk.workers).toHaveLength(1);
  walk.restart(0);
  walk.look();
  expect(walk.toString()).toBe('1 starting, 1 placed, 1 placed');
});
