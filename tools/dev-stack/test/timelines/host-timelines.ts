import { expect, test } from '@jest/globals';
import type { Job, Scenario } from './scenario.js';
import { UP, everyJobDone, jobsRun, workersUp } from './scenes.js';
import { count, type Moment, type Scene, type Worker } from './timeline.js';
import { VCPUS } from './two-hosts.js';
import type { TwoHostsFixture } from './use-two-hosts.js';

/** From five on an endpoint's workers keep apart: the first two are one on each host. */
const SPREAD = { min: 2, max: 5 };
/** Two on each host, which has no room for a third. */
const FULL = { workers: { min: 4, max: 4 }, vcpus: VCPUS / 2 };
const SECOND = 1;

/** What an operator and an accident do to a host with running jobs. */
export function hostTimelines(fixture: TwoHostsFixture): void {
  const isOnSecond = ({ hostId }: Worker): boolean => fixture.hosts.hostOf(hostId) === SECOND;
  const onSecond = ({ workers }: Moment): readonly Worker[] => workers.filter(isOnSecond);
  /** Host and outcome of each attempt. */
  const ways = (jobs: readonly Job[]): readonly (readonly (readonly [number, string | null])[])[] =>
    jobs.map(({ history }) => history.map(({ hostId, outcome }) => [fixture.hosts.hostOf(hostId), outcome] as const));
  const firstHosts = (jobs: readonly Job[]): readonly number[] =>
    jobs.map(({ history }) => fixture.hosts.hostOf(history[0]?.hostId));
  const tell = (scenario: Scenario, jobs: readonly Job[]): void => {
    for (const way of ways(jobs)) {
      scenario.note(
        `a job: ${way.map(([host, outcome]) => `${outcome ?? 'runs'} on host ${host + 1}`).join(', then ')}`,
      );
    }
  };

  const oneOnEach: Scene = {
    what: 'a worker on each host',
    is: (moment) => count(moment, ...UP) === 2 && onSecond(moment).length === 1,
  };

  /** Jobs that run, one on each worker, and which host each is on. */
  const running = async (scenario: Scenario, jobs: number, seconds: number): Promise<readonly string[]> => {
    const ids = await scenario.submit(jobs, seconds);
    await scenario.until(jobsRun(jobs));
    const seen = firstHosts(await scenario.jobs(ids));
    expect(seen.toSorted()).toEqual(ids.map((_, index) => (index < jobs / 2 ? 0 : SECOND)));
    return ids;
  };

  test('jobs of a drained host end there, and no worker comes to it', async () => {
    const drain = await fixture.begin({
      ...{ title: 'a host is drained with running jobs', name: 'drain', workers: SPREAD },
    });
    await drain.until(workersUp(2), oneOnEach);
    const [leaving] = onSecond(drain.timeline.last);
    const ids = await running(drain, 2, 3);
    drain.note('the second host is drained');
    await fixture.hosts.act(SECOND, 'drain');
    await drain.until({
      what: 'two workers, none of them on the second host',
      is: (moment) => count(moment, ...UP) === 2 && onSecond(moment).length === 0,
    });
    const jobs = await drain.allCompleted(ids);
    tell(drain, jobs);
    expect(ways(jobs).flat().toSorted()).toEqual([
      [0, 'COMPLETED'],
      [SECOND, 'COMPLETED'],
    ]);
    const seen = drain.timeline.moments.flatMap(onSecond).map(({ id }) => id);
    expect(new Set(seen)).toEqual(new Set([leaving?.id]));
  });

  test('a cordoned host gets no worker more, and the job that runs there ends there', async () => {
    const cordon = await fixture.begin({
      ...{ title: 'a host is cordoned with a running job', name: 'cordon', workers: SPREAD },
    });
    await cordon.until(workersUp(2), oneOnEach);
    const [staying] = onSecond(cordon.timeline.last);
    const first = await running(cordon, 2, 6);
    cordon.note('the second host is cordoned, and three jobs come');
    await fixture.hosts.act(SECOND, 'cordon');
    const more = await cordon.submit(3, 2);
    await cordon.until(
      {
        what: 'five workers, four of them on the first host',
        is: (moment) => moment.workers.length === 5 && onSecond(moment).length === 1,
      },
      everyJobDone([...first, ...more]),
    );
    const jobs = await cordon.allCompleted([...first, ...more]);
    tell(cordon, jobs);
    expect(jobs.map(({ attempts }) => attempts)).toEqual(jobs.map(() => 1));
    expect(firstHosts(jobs.slice(0, first.length)).toSorted()).toEqual([0, SECOND]);
    const seen = cordon.timeline.moments.flatMap(onSecond).map(({ id }) => id);
    expect(new Set(seen)).toEqual(new Set([staying?.id]));
  });

  test('jobs of a host that loses its power are done once more, each once', async () => {
    const power = await fixture.begin({ ...{ title: 'a host is killed', name: 'power' }, ...FULL });
    await power.until(workersUp(4));
    const ids = await running(power, 4, 5);
    const wasOn = firstHosts(await power.jobs(ids));
    power.note('the second host loses its power');
    await fixture.hosts.cutPower();
    await power.until(everyJobDone(ids));
    const jobs = await power.allCompleted(ids);
    tell(power, jobs);
    ways(jobs).forEach((way, index) => {
      if (wasOn[index] === SECOND) {
        expect(way).toEqual([
          [SECOND, 'lost'],
          [expect.any(Number), 'COMPLETED'],
        ]);
      } else expect(way).toEqual([[0, 'COMPLETED']]);
    });
    await power.until(workersUp(4));
  });

  test('jobs of a host that stands still are done elsewhere, and its own late results count for nothing', async () => {
    const frozen = await fixture.begin({ ...{ title: 'a host stands still', name: 'frozen' }, ...FULL });
    await frozen.until(workersUp(4));
    const ids = await running(frozen, 4, 3);
    const wasOn = firstHosts(await frozen.jobs(ids));
    frozen.note('the agent of the second host stands still');
    fixture.hosts.freeze('SIGSTOP');
    await frozen.until(everyJobDone(ids));
    const expected = wasOn.map((host) =>
      host === SECOND
        ? [
            [SECOND, 'lost'],
            [0, 'COMPLETED'],
          ]
        : [[0, 'COMPLETED']],
    );
    const jobs = await frozen.allCompleted(ids);
    tell(frozen, jobs);
    expect(ways(jobs)).toEqual(expected);
    frozen.note('it goes on');
    fixture.hosts.freeze('SIGCONT');
    await frozen.until({
      what: 'four workers up, and still each job done once',
      is: (moment) => count(moment, ...UP) === 4 && moment.completed === ids.length,
    });
    expect(ways(await frozen.jobs(ids))).toEqual(expected);
  });
}
