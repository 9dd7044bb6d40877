import { expect, test } from '@jest/globals';
import type { Scenario } from './scenario.js';
import { UP, everyJobDone } from './scenes.js';
import { type Scene, type Worker } from './timeline.js';
import { NODE_ECHO, SAMPLE } from './two-hosts.js';
import type { TwoHostsFixture } from './use-two-hosts.js';

const JOBS = 3;
/** A name that stands for an image that crashes, and later for one that does not. */
const BREAKABLE = 'local/breakable:latest';

const threeWorkers: Scene = { what: 'three workers', is: ({ workers }) => workers.length === 3 };
const oneTriesOn: Scene = {
  what: 'the one that goes on trying',
  is: ({ queued, rollout, workers }) => rollout.state === 'halted' && workers.length === 1 && queued === JOBS,
};
const startsAfresh: Scene = {
  what: 'a release with nothing against it',
  is: ({ rollout }) => rollout.state !== 'halted',
};

/** A release that does not come up, and how that ends. */
export function crashTimelines(fixture: TwoHostsFixture): void {
  const lastWorker = ({ timeline }: Scenario): Worker => {
    const [worker] = timeline.last.workers;
    if (worker === undefined) throw new Error('no worker goes on trying');
    return worker;
  };

  test('a crash loop leaves one worker that tries on, and a release ends it', async () => {
    const crash = await fixture.begin({
      ...{ title: 'a crash loop and its end by a release', name: 'crash', env: { CRASH: 'yes' } },
      workers: { min: 0, max: 3 },
    });
    const ids = await crash.submit(JOBS, 0);
    await crash.until(threeWorkers, oneTriesOn);
    expect(crash.timeline.last.rollout.reason).toContain('no such model');
    crash.note('a release that does not crash');
    await crash.release({});
    await crash.until(
      { what: 'a worker of the new release', is: ({ workers }) => workers.some(({ version }) => version === 2) },
      everyJobDone(ids),
    );
    await crash.allCompleted(ids);
  });

  test('a restart that is asked for lets a crash loop begin anew, and ends it once the cause is gone', async () => {
    await fixture.hosts.docker('tag', SAMPLE, BREAKABLE);
    const crash = await fixture.begin({
      ...{ title: 'a crash loop and its end by a restart', name: 'restart', env: { CRASH: 'yes' }, image: BREAKABLE },
      workers: { min: 0, max: 3 },
    });
    const ids = await crash.submit(JOBS, 0);
    await crash.until(threeWorkers, oneTriesOn);
    const first = lastWorker(crash);
    crash.note('its worker is restarted, and what it crashes of is still there');
    expect(await crash.restart(first.id)).toMatchObject({ id: first.id, restarts: 1 });
    await crash.until(startsAfresh, threeWorkers, oneTriesOn);
    expect(crash.timeline.last.rollout.reason).toContain('no such model');

    await fixture.hosts.docker('tag', NODE_ECHO, BREAKABLE);
    const last = lastWorker(crash);
    crash.note('the image is mended, and the worker restarted');
    const restarts = last.restarts + 1;
    expect(await crash.restart(last.id)).toMatchObject({ id: last.id, restarts });
    const isBack = (worker: Worker): boolean =>
      worker.id === last.id && worker.restarts === restarts && UP.includes(worker.status);
    await crash.until(
      { what: 'the worker that was restarted, up', is: ({ workers }) => workers.some(isBack) },
      startsAfresh,
      everyJobDone(ids),
    );
    expect((await crash.allCompleted(ids)).map(({ attempts }) => attempts)).toEqual(ids.map(() => 1));
    expect(crash.timeline.moments.every(({ workers }) => workers.every(({ version }) => version === 1))).toBe(true);
  });
}
