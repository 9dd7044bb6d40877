import { expect, test } from '@jest/globals';
import { everyJobDone, jobsWait, mostWorkers, nothingLeft, onlyRelease, workersUp } from './scenes.js';
import { count } from './timeline.js';
import type { TwoHostsFixture } from './use-two-hosts.js';

/** Workers come and go with the load, and with releases under load. */
export function loadTimelines(fixture: TwoHostsFixture): void {
  test('a load wave brings workers, and its end takes them away', async () => {
    const wave = await fixture.begin({
      ...{ title: '0 → 3 → 0 under a load wave', name: 'wave' },
      workers: { min: 0, max: 3 },
    });
    await wave.until(nothingLeft);
    wave.note('12 jobs of a second come');
    const ids = await wave.submit(12, 1);
    await wave.until(
      jobsWait,
      { what: 'three workers that work', is: (moment) => count(moment, 'RUNNING') === 3 },
      everyJobDone(ids),
      nothingLeft,
    );
    await wave.allCompleted(ids);
    expect(mostWorkers(wave.timeline.moments)).toBe(3);
  });

  test('a release rolls under load without a failed job', async () => {
    const rollout = await fixture.begin({
      ...{ title: 'a release rolls under load', name: 'release' },
      workers: { min: 2, max: 2 },
    });
    await rollout.until(workersUp(2));
    const ids = await rollout.submit(20, 0.5);
    rollout.note('a release, with 20 jobs under way');
    await rollout.release({ VERSION: '2' });
    await rollout.until(
      { what: 'both releases side by side', is: ({ workers }) => new Set(workers.map((w) => w.version)).size === 2 },
      onlyRelease(2, 2),
    );
    await rollout.allCompleted(ids);
    expect(mostWorkers(rollout.timeline.moments)).toBe(2);
  });
}
