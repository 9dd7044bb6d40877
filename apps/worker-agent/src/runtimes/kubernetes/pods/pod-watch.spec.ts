import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeCluster, RUNNING } from '../../../../test/fake-cluster.js';
import { kubernetesMetrics } from '../metrics.js';
import { KnownPods } from './known-pods.js';
import { PodWatch } from './pod-watch.js';

const MINUTE_MS = 60_000;

let cluster: FakeCluster;
let clock: ManualClock;
let pods: KnownPods;
let registry: MetricRegistry;
let end: () => Promise<void>;

beforeEach(async () => {
  cluster = new FakeCluster();
  const labels = { 'berth.host': 'host1', 'berth.role': 'worker' };
  cluster.put({ metadata: { name: 'a', uid: 'uid of a', labels }, status: RUNNING });
  clock = new ManualClock();
  pods = new KnownPods();
  registry = new MetricRegistry();
  const watch = new PodWatch({
    ...{ api: cluster, clock, pods, random: new SeededRandom(7), logger: silentLogger },
    ...{ path: '/api/v1/namespaces/berth-workers/pods', labelSelector: 'berth.host=host1' },
    metrics: kubernetesMetrics(registry),
  });
  const stopping = new AbortController();
  const running = watch.run(await watch.list(), stopping.signal);
  end = async () => {
    stopping.abort();
    await running;
  };
});
afterEach(() => end());

const isGone = (): boolean | undefined => pods.find('a')?.isGone;
const breaks = async (): Promise<readonly string[]> =>
  (await registry.text()).split('\n').filter((line) => line.startsWith('berth_agent_kubernetes_watch_breaks_total{'));

describe('a watch that says nothing', () => {
  test('for a minute and a half is not believed any more: all is listed anew', async () => {
    cluster.remove('a', { isTold: false });
    await clock.advance(89_000);
    expect(isGone()).toBe(false);
    await clock.advance(2_000);
    expect(isGone()).toBe(true);
    expect(await breaks()).toEqual(['berth_agent_kubernetes_watch_breaks_total{reason="silent"} 1']);
  });

  test.each([
    ['cannot be had', 'fail'],
    ['ends at once', 'end'],
  ] as const)('and then %s is asked for ever more seldom, though all can be listed each time', async (_, how) => {
    cluster.watches = how;
    await clock.advance(91_000);
    const before = cluster.asked.length;
    for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
    expect(cluster.asked.length - before).toBeGreaterThan(2);
    expect(cluster.asked.length - before).toBeLessThan(15);
    expect(await breaks()).toContainEqual(expect.stringContaining('{reason="failed"}'));
  });

  test('and then is broken off by chance is asked for soon again: that it stood is what counts', async () => {
    cluster.watches = 'fail';
    await clock.advance(91_000);
    for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
    cluster.watches = 'stand';
    for (let second = 0; second < 15; second += 1) await clock.advance(1_000);
    const before = cluster.asked.length;
    await clock.advance(91_000);
    expect(cluster.asked.length - before).toBe(1);
  });

  test('but that it stands goes on', async () => {
    for (let minute = 0; minute < 3; minute += 1) {
      await clock.advance(MINUTE_MS);
      cluster.bookmark();
    }
    await clock.advance(MINUTE_MS);
    expect(await breaks()).toEqual([]);
    expect(isGone()).toBe(false);
    expect(cluster.asked).toEqual(['GET pods']);
  });
});
