import type { NoticeMessage } from '@berth/contracts';
import { PlatformError, type EndpointId, type JobId, type JobKey } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { ScriptedOwners } from '../../test/fixtures/scripted-owners.js';
import { JobWatches, type JobWatchesOptions } from './job-watches.js';
import { watchMetrics } from './metrics.js';

const OTHER = 'other' as EndpointId;
const endpointId = 'ep' as EndpointId;
const keyOf = (jobId: string): JobKey => ({ endpointId, jobId: jobId as JobId });
const told = (jobId: string, now: NoticeMessage['jobs'][number]['now']): NoticeMessage['jobs'] => [
  { jobId: jobId as JobId, now },
];

function openWatches(owners = new ScriptedOwners(), more: Partial<JobWatchesOptions> = {}) {
  const clock = new ManualClock();
  const metrics = watchMetrics(new MetricRegistry());
  const listeners = new Set<(notice: NoticeMessage) => void>();
  const notices = {
    listen: (onNotice: (notice: NoticeMessage) => void) => {
      listeners.add(onNotice);
      return () => void listeners.delete(onNotice);
    },
  };
  const watches = new JobWatches({ owners, notices, incarnation: 'me', clock, metrics, ...more });
  const tell = (jobs: NoticeMessage['jobs']): void => {
    for (const listener of listeners) listener({ endpointId, jobs });
  };
  const valueOf = async (name: keyof typeof metrics): Promise<number> =>
    (await metrics[name].get()).values[0]?.value ?? 0;
  return { watches, clock, owners, tell, valueOf };
}

describe('a caller who waits for news of a job', () => {
  test('is told to the job’s owner, by the news that it waits for', () => {
    const { owners, watches } = openWatches();
    watches.watch(keyOf('a'), 'end');
    watches.watch(keyOf('a'), 'any');
    watches.watch(keyOf('b'), 'end');
    expect(owners.asked.map(({ verb, question }) => [verb, question])).toEqual([
      ['find', { jobId: 'a', watcher: { router: 'me', news: 'end' } }],
      ['find', { jobId: 'a', watcher: { router: 'me', news: 'any' } }],
      ['find', { jobId: 'b', watcher: { router: 'me', news: 'end' } }],
    ]);
  });

  test('is woken by a notice of it and no other', async () => {
    const { clock, tell, watches } = openWatches();
    watches.start();
    const [one, other] = [watches.watch(keyOf('a'), 'any'), watches.watch(keyOf('b'), 'any')];
    const waits = [one.wait(2_000), other.wait(2_000)];
    tell(told('a', 'moved'));
    expect(await waits[0]).toBe(true);
    expect(clock.waiting).toBe(1);
    await clock.advance(2_000);
    expect(await waits[1]).toBe(false);
  });

  test('looks again when whoever would have told it is gone', async () => {
    const { clock, watches } = openWatches();
    const [one, other] = [watches.watch(keyOf('a'), 'end'), watches.watch({ ...keyOf('a'), endpointId: OTHER }, 'end')];
    const waits = [one.wait(2_000), other.wait(2_000)];
    watches.lookAgain((each) => each === endpointId);
    expect(await waits[0]).toBe(true);
    await clock.advance(2_000);
    expect(await waits[1]).toBe(false);
  });

  test('hears of an endpoint’s job only what concerns that endpoint', async () => {
    const { clock, watches } = openWatches();
    const watch = watches.watch(keyOf('a'), 'any');
    watches.ring(OTHER, told('a', 'ended'));
    const wait = watch.wait(10);
    await clock.advance(10);
    expect(await wait).toBe(false);
  });

  test.each([
    ['moved', false],
    ['ended', true],
    ['gone', true],
  ] as const)('of its end only is woken where it is %s: %s', async (now, isWoken) => {
    const { clock, watches } = openWatches();
    const watch = watches.watch(keyOf('a'), 'end');
    watches.ring(endpointId, told('a', now));
    const wait = watch.wait(10);
    await clock.advance(10);
    expect(await wait).toBe(isWoken);
  });

  test('hears at once what happened since it began to watch or heard last, and that once', async () => {
    const { clock, watches } = openWatches();
    const watch = watches.watch(keyOf('a'), 'any');
    watches.ring(endpointId, told('a', 'moved'));
    watches.ring(endpointId, told('a', 'moved'));
    expect(await watch.wait(1_000)).toBe(true);
    const wait = watch.wait(1_000);
    await clock.advance(1_000);
    expect(await wait).toBe(false);
  });

  test('may go while it waits, and costs nothing more', async () => {
    const { clock, owners, watches } = openWatches();
    const watch = watches.watch(keyOf('a'), 'any');
    const other = watches.watch(keyOf('a'), 'end');
    const gone = new AbortController();
    const wait = watch.wait(1_000, gone.signal);
    gone.abort();
    expect(await wait).toBe(false);
    watch.dispose();
    watch.dispose();
    expect([watches.size, watches.watcherOf(keyOf('a'))]).toEqual([1, { router: 'me', news: 'end' }]);
    other.dispose();
    expect([watches.size, watches.watcherOf(keyOf('a')), clock.waiting]).toEqual([0, null, 0]);
    expect(owners.asked.map(({ options }) => options.signal?.aborted)).toEqual([true, true]);
    expect(await watch.wait(1_000)).toBe(false);
  });

  test('is woken by its own end', async () => {
    const { watches } = openWatches();
    const watch = watches.watch(keyOf('a'), 'any');
    const wait = watch.wait(1_000);
    watch.dispose();
    expect(await wait).toBe(false);
  });
});

test('an owner that cannot be told is counted, and the caller waits all the same', async () => {
  const outage = new PlatformError('service-unavailable', 'away');
  const { tell, valueOf, watches } = openWatches(new ScriptedOwners(() => Promise.reject(outage)));
  watches.start();
  const watch = watches.watch(keyOf('a'), 'any');
  await letRun();
  expect(await valueOf('unregistered')).toBe(1);
  tell(told('a', 'moved'));
  expect(await watch.wait(1_000)).toBe(true);
});

test('one that has gone is no failure of the owner', async () => {
  const { promise, reject } = Promise.withResolvers<null>();
  const { valueOf, watches } = openWatches(new ScriptedOwners(() => promise));
  watches.watch(keyOf('a'), 'any').dispose();
  reject(new PlatformError('service-unavailable', 'nobody waits'));
  await letRun();
  expect(await valueOf('unregistered')).toBe(0);
});

test('nobody hears notices before the start and after the stop', async () => {
  const { clock, tell, watches } = openWatches();
  const watch = watches.watch(keyOf('a'), 'any');
  tell(told('a', 'moved'));
  watches.start();
  watches.stop();
  tell(told('a', 'moved'));
  const wait = watch.wait(10);
  await clock.advance(10);
  expect(await wait).toBe(false);
});

test('thousands wait side by side, and whoever is too many looks by itself', async () => {
  const { clock, owners, valueOf, watches } = openWatches(new ScriptedOwners(), { watchesMax: 5_000 });
  const all = Array.from({ length: 5_000 }, (_, at) => watches.watch(keyOf(`j${at}`), 'end'));
  const beyond = watches.watch(keyOf('beyond'), 'end');
  expect([watches.size, owners.asked.length, await valueOf('unheard')]).toEqual([5_000, 5_000, 1]);
  watches.ring(endpointId, [...told('j7', 'ended'), ...told('beyond', 'ended')]);
  expect(await all[7]?.wait(1)).toBe(true);
  const wait = beyond.wait(2_000);
  await clock.advance(2_000);
  expect(await wait).toBe(false);
  for (const watch of [...all, beyond]) watch.dispose();
  expect(watches.size).toBe(0);
});
