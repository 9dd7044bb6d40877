import { REPORT_INTERVAL_MS, type DesiredWorker } from '@berth/contracts';
import type { EndpointId, WorkerId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeMachine, FakeRuntime } from '../../test/fake-runtime.js';
import { type ContainerRuntime, type PrepareOptions, RuntimeError } from '../runtimes/index.js';
import { workerMetrics } from './metrics.js';
import { PrepareTask } from './prepare-task.js';
import { FakeWorkerLogs } from '../../test/fake-worker-logs.js';

const ASSIGNED = {
  workerId: 'w' as WorkerId,
  endpointId: 'e' as EndpointId,
  release: 1,
  intent: 'running',
  container: {
    image: 'registry.example.com/team/worker:1',
    args: '',
    env: {},
    diskGb: null,
    ports: [],
    registryId: null,
  },
  resources: { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 },
  endpointType: 'QUEUE',
  executionTimeoutMs: 1_000,
  restarts: 0,
} as unknown as DesiredWorker;

let clock: ManualClock;
let changes: number;
let options: PrepareOptions;
let end: (error: RuntimeError | null) => void;
let task: PrepareTask;

/** Its preparations go on until the test ends them. */
class SlowRuntime extends FakeRuntime {
  override prepare(_: Parameters<ContainerRuntime['prepare']>[0], given: PrepareOptions = {}): Promise<void> {
    options = given;
    return new Promise((resolve, reject) => {
      end = (error) => {
        if (error === null) resolve();
        else reject(error);
      };
    });
  }
}

beforeEach(() => {
  clock = new ManualClock();
  changes = 0;
  const runtime = new SlowRuntime(new FakeMachine([]), clock);
  const metrics = workerMetrics(new MetricRegistry());
  const logs = new FakeWorkerLogs();
  task = new PrepareTask({ clock, runtime, logs, metrics, logger: silentLogger }, () => {
    changes += 1;
  });
  task.begin(ASSIGNED);
});

describe('the progress of a preparation', () => {
  test('is not known before the runtime tells it', () => {
    expect([task.state, task.imagePercent, changes]).toEqual(['running', null, 0]);
  });

  test('changes once per report, however often it is told', async () => {
    for (let percent = 0; percent < 50; percent += 1) options.onPercent?.(percent);
    expect([task.imagePercent, changes]).toEqual([0, 1]);
    await clock.advance(REPORT_INTERVAL_MS - 1);
    expect([task.imagePercent, changes]).toEqual([0, 1]);
    // The last one is told although the pull stands still since.
    await clock.advance(1);
    expect([task.imagePercent, changes]).toEqual([49, 2]);
    await clock.advance(10 * REPORT_INTERVAL_MS);
    expect([task.imagePercent, changes]).toEqual([49, 2]);
  });

  test('is over with the preparation', async () => {
    options.onPercent?.(99);
    end(null);
    await clock.advance(0);
    expect([task.state, task.imagePercent]).toEqual(['done', null]);
  });

  test('of one that was cancelled is not told', () => {
    const { onPercent } = options;
    task.cancel();
    onPercent?.(10);
    expect([task.imagePercent, changes]).toEqual([null, 0]);
  });
});

describe('what keeps a host from preparing', () => {
  test('is known while it does, in clean words and few, and each change is told once', () => {
    options.onHeldUp?.('no\u001b[31m network');
    options.onHeldUp?.('no\u001b[31m network');
    expect([task.heldUpBy, changes]).toEqual(['no network', 1]);
    options.onHeldUp?.('x'.repeat(10_000));
    expect([task.heldUpBy?.length, changes]).toEqual([600, 2]);
    options.onHeldUp?.(null);
    expect([task.heldUpBy, changes]).toEqual([null, 3]);
  });

  test('is over with the preparation', async () => {
    options.onHeldUp?.('no network');
    end(null);
    await clock.advance(0);
    expect(task.heldUpBy).toBeNull();
  });

  test('of one that was cancelled is not told, nor is it that of the next', () => {
    const { onHeldUp } = options;
    onHeldUp?.('no network');
    task.cancel();
    expect([task.heldUpBy, changes]).toEqual([null, 1]);
    task.begin(ASSIGNED);
    onHeldUp?.('no folder');
    expect([task.heldUpBy, changes]).toEqual([null, 1]);
  });
});

describe('a preparation that failed', () => {
  test.each([
    ['image-missing', 'image'],
    ['image-denied', 'image'],
    ['image-unreachable', 'image'],
    ['setup-failed', 'image'],
    ['disk-full', 'container'],
    ['runtime-unavailable', 'container'],
  ] as const)('for %s is about the %s', async (reason, kind) => {
    end(new RuntimeError(reason, 'so it is'));
    await clock.advance(0);
    const room = reason === 'disk-full' ? { lacksRoom: true } : {};
    expect(task.takeFailure()).toEqual({ kind, reason: `${reason}: so it is`, ...room });
    expect(task.takeFailure()).toBeNull();
  });
});
