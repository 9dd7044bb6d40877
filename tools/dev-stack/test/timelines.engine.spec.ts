import { useContainerEngine } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Scenario } from './timelines/scenario.js';
import { Timeline, count, type Scene } from './timelines/timeline.js';

jest.setTimeout(300_000);
const UP = ['IDLE', 'RUNNING'];
/** Jobs until the other worker has had one too. */
const KEPT_MAX = 200;

const fixture = useContainerEngine({ hasBaseImage: true });

const workersUp = (wanted: number): Scene => ({
  what: `${wanted} workers up`,
  is: (moment) => count(moment, ...UP) === wanted && moment.workers.length === wanted,
});
const nothingLeft: Scene = {
  what: 'no workers and no jobs',
  is: ({ inProgress, queued, workers }) => workers.length + queued + inProgress === 0,
};

// Nested, so that the stack is stopped before its engine, on failure too.
describe('timelines of containers on two hosts', () => {
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await Scenario.open(fixture.engine);
  });

  afterAll(async () => {
    await scenario.close();
  });

  const completed = async (endpointId: string, ids: readonly string[]): Promise<void> => {
    const jobs = await scenario.ended(endpointId, ids);
    expect(jobs.map(({ status }) => status)).toEqual(ids.map(() => 'COMPLETED'));
  };

  test('a load wave brings workers, and its end takes them away', async () => {
    const endpointId = await scenario.create('wave', { min: 0, max: 3 });
    const timeline = new Timeline(scenario.client, endpointId, '0 → 3 → 0 under a load wave');
    await timeline.until(nothingLeft);
    timeline.note('12 jobs of a second come');
    const ids = await scenario.submit(endpointId, 12, 1);
    await timeline.until(
      { what: 'jobs that wait', is: ({ queued }) => queued > 0 },
      { what: 'three workers that work', is: (moment) => count(moment, 'RUNNING') === 3 },
      { what: 'every job done', is: ({ completed: done }) => done === ids.length },
      nothingLeft,
    );
    await completed(endpointId, ids);
    expect(Math.max(...timeline.moments.map(({ workers }) => workers.length))).toBe(3);
    await scenario.remove(endpointId);
  });

  test('a release rolls under load without a failed job', async () => {
    const endpointId = await scenario.create('release', { min: 2, max: 2 });
    const timeline = new Timeline(scenario.client, endpointId, 'a release rolls under load');
    await timeline.until(workersUp(2));
    const ids = await scenario.submit(endpointId, 20, 0.5);
    timeline.note('a release, with 20 jobs under way');
    await scenario.release(endpointId, { VERSION: '2' });
    await timeline.until(
      { what: 'both releases side by side', is: ({ workers }) => new Set(workers.map((w) => w.version)).size === 2 },
      {
        what: 'only new workers',
        is: (moment) => count(moment, ...UP) === 2 && moment.workers.every(({ version }) => version === 2),
      },
    );
    await completed(endpointId, ids);
    expect(Math.max(...timeline.moments.map(({ workers }) => workers.length))).toBe(2);
    await scenario.remove(endpointId);
  });

  test('a crash loop leaves one worker that tries on, and a release ends it', async () => {
    const endpointId = await scenario.create('crash', { min: 0, max: 3 }, { CRASH: 'yes' });
    const timeline = new Timeline(scenario.client, endpointId, 'a crash loop and its end');
    const ids = await scenario.submit(endpointId, 3, 0);
    await timeline.until(
      { what: 'three workers', is: ({ workers }) => workers.length === 3 },
      {
        what: 'the one that goes on trying',
        is: ({ queued, rollout, workers }) => rollout.state === 'halted' && workers.length === 1 && queued === 3,
      },
    );
    expect(timeline.moments.at(-1)?.rollout.reason).toContain('no such model');
    timeline.note('a release that does not crash');
    await scenario.release(endpointId, {});
    await timeline.until(
      { what: 'a worker of the new release', is: ({ workers }) => workers.some(({ version }) => version === 2) },
      { what: 'every job done', is: ({ completed: done }) => done === ids.length },
    );
    await completed(endpointId, ids);
    await scenario.remove(endpointId);
  });

  test('jobs of a drained host end there, and no worker comes to it', async () => {
    const endpointId = await scenario.create('drain', { min: 2, max: 4 });
    const timeline = new Timeline(scenario.client, endpointId, 'a host is drained with running jobs');
    await timeline.until(workersUp(2));
    const ids = await scenario.submit(endpointId, 2, 3);
    await timeline.until({ what: 'two jobs that run', is: ({ inProgress }) => inProgress === 2 });
    timeline.note('the second host is drained');
    await scenario.actOnHost(1, 'drain');
    await timeline.until({
      what: 'two workers, none of them on the second host',
      is: (moment) => count(moment, ...UP) === 2 && moment.workers.every(({ hostId }) => hostId === scenario.hostId(0)),
    });
    const jobs = await scenario.ended(endpointId, ids);
    expect(jobs.map(({ attempts, status }) => ({ attempts, status }))).toEqual(
      ids.map(() => ({ attempts: 1, status: 'COMPLETED' })),
    );
    await scenario.actOnHost(1, 'uncordon');
    await scenario.remove(endpointId);
  });

  test('jobs of a host that loses its power are done once more, each once', async () => {
    const endpointId = await scenario.create('power', { min: 4, max: 4 });
    const timeline = new Timeline(scenario.client, endpointId, 'a host is killed');
    await timeline.until(workersUp(4));
    const ids = await scenario.submit(endpointId, 8, 2);
    await timeline.until({ what: 'four jobs that run', is: ({ inProgress }) => inProgress === 4 });
    timeline.note('the second host loses its power');
    await scenario.cutPower();
    await timeline.until({ what: 'every job done', is: ({ completed: done }) => done === ids.length });
    const jobs = await scenario.ended(endpointId, ids);
    expect(jobs.every(({ status }) => status === 'COMPLETED')).toBe(true);
    await timeline.until(workersUp(4));
    await scenario.remove(endpointId);
  });

  test('jobs of a host that stands still are done elsewhere, and its own late results count for nothing', async () => {
    const endpointId = await scenario.create('frozen', { min: 4, max: 4 });
    const timeline = new Timeline(scenario.client, endpointId, 'a host stands still');
    await timeline.until(workersUp(4));
    const ids = await scenario.submit(endpointId, 4, 2);
    await timeline.until({ what: 'four jobs that run', is: ({ inProgress }) => inProgress === 4 });
    timeline.note('the agent of the second host stands still');
    scenario.freeze('SIGSTOP');
    await timeline.until({ what: 'every job done', is: ({ completed: done }) => done === ids.length });
    timeline.note('it goes on');
    scenario.freeze('SIGCONT');
    const jobs = await scenario.ended(endpointId, ids);
    expect(jobs.every(({ status }) => status === 'COMPLETED')).toBe(true);
    await timeline.until({
      what: 'four workers up, and still each job done once',
      is: (moment) => count(moment, ...UP) === 4 && moment.completed === ids.length,
    });
    await scenario.remove(endpointId);
  });

  test('what a worker keeps in a volume, one on the other host finds, also after a release', async () => {
    const endpointId = await scenario.createKeepers('volume');
    const timeline = new Timeline(scenario.client, endpointId, 'a volume is shared by two hosts');
    await timeline.until(workersUp(2));
    const first = await scenario.keep(endpointId, 'line 0');
    const kept = [first];
    while (kept.at(-1)?.workerId === first.workerId && kept.length < KEPT_MAX) {
      kept.push(await scenario.keep(endpointId, `line ${kept.length}`));
    }
    expect(kept.at(-1)?.workerId).not.toBe(first.workerId);
    expect(kept.at(-1)?.output.lines).toEqual(kept.map((_, index) => `line ${index}`));
    timeline.note('a release');
    await scenario.release(endpointId, {});
    await timeline.until({
      what: 'only new workers',
      is: (moment) => count(moment, ...UP) === 2 && moment.workers.every(({ version }) => version === 2),
    });
    expect((await scenario.keep(endpointId, 'last')).output.lines.slice(0, -1)).toEqual(kept.at(-1)?.output.lines);
    await scenario.remove(endpointId);
  });
});
