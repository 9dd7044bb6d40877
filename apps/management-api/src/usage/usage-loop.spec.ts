import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SERIES_MAX, type AccountId, type EndpointId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { UsageLoop } from './usage-loop.js';
import type { CountedUsage } from './usage.store.js';

const PASS_MS = 15_000;
const usageOf = (endpointId: string, more: Partial<CountedUsage> = {}): CountedUsage => ({
  ...{ accountId: 'mine' as AccountId, endpointId: endpointId as EndpointId, gpuTypeId: 'A100' },
  ...{ workerMs: 15_000, gpuMs: 30_000, pausedWorkerMs: 0, pausedGpuMs: 0, ...more },
});

let clock: ManualClock;
let metrics: MetricRegistry;
let loop: UsageLoop;
let isLeader: boolean;
/** What each question adds, until there is nothing more. */
let batches: (readonly CountedUsage[] | Error)[];
let asked: string[];

beforeEach(() => {
  [clock, metrics, isLeader, batches, asked] = [new ManualClock(), new MetricRegistry(), true, [], []];
  loop = new UsageLoop({
    ...{ clock, metrics, logger: silentLogger, lease: { isLeader: () => isLeader } },
    usage: {
      align: async () => void asked.push('align'),
      count: async () => {
        asked.push('count');
        const batch = batches.shift() ?? [];
        if (batch instanceof Error) throw batch;
        return batch;
      },
      prune: async () => asked.push('prune') * 0,
    },
  });
});
afterEach(() => loop.stop());

const lines = async (): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith('berth_controllers_usage_'));

test('counts until there is nothing more, and shows it by account, endpoint, type of GPU and use, from zero', async () => {
  batches = [[usageOf('e1')], [usageOf('e1'), usageOf('e2', { gpuTypeId: null, gpuMs: 0, pausedWorkerMs: 1_500 })]];
  loop.start();
  await eventually(() => expect(asked).toEqual(['align', 'count', 'count', 'count', 'prune']));
  const running =
    'berth_controllers_usage_gpu_seconds_total{account="mine",endpoint="e1",gpu_type="A100",use="running"}';
  expect(await lines()).toContain(`${running} 0`);
  batches = [[usageOf('e1')]];
  await eventually(async () => {
    await clock.advance(PASS_MS);
    expect(await lines()).toContain(`${running} 90`);
  });
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'berth_controllers_usage_gpu_seconds_total{account="mine",endpoint="e1",gpu_type="A100",use="paused"} 0',
      'berth_controllers_usage_worker_seconds_total{account="mine",endpoint="e2",gpu_type="cpu",use="paused"} 1.5',
    ]),
  );
  expect((await lines()).filter((line) => /gpu_seconds.*cpu/.test(line))).toEqual([]);
});

test('who does not lead counts nothing', async () => {
  isLeader = false;
  loop.start();
  await clock.advance(PASS_MS);
  isLeader = true;
  await clock.advance(PASS_MS);
  await eventually(() => expect(asked).toEqual(['align', 'count', 'prune']));
});

test('a pass that fails is counted, and the next one goes on', async () => {
  batches = [new Error('the database is away'), [usageOf('e1')]];
  loop.start();
  await eventually(async () => expect(await lines()).toContain('berth_controllers_usage_failures_total 1'));
  await eventually(async () => {
    await clock.advance(PASS_MS);
    expect((await lines()).join()).toContain('endpoint="e1"');
  });
});

test('endpoints beyond those that have series are shown together, and one that leaves takes its series along', async () => {
  batches = [
    Array.from({ length: SERIES_MAX }, (_, each) => usageOf(`e${String(each)}`)),
    [usageOf('late', { accountId: 'other' as AccountId })],
  ];
  loop.start();
  await eventually(() => expect(asked).toContain('prune'));
  await eventually(async () => {
    await clock.advance(PASS_MS);
    expect(await lines()).toContain(
      'berth_controllers_usage_gpu_seconds_total{account="_other",endpoint="_other",gpu_type="_other",use="running"} 30',
    );
  });
  await clock.advance(3_600_000 + PASS_MS);
  await eventually(async () => {
    batches = [[usageOf('late')]];
    await clock.advance(PASS_MS);
    expect((await lines()).join()).toContain('endpoint="late"');
  });
  expect((await lines()).join()).not.toContain('endpoint="e0"');
});
