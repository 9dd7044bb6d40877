import { dirname, join, resolve } from 'node:path';
import type { DesiredWorker } from '@berth/contracts';
import type { EndpointId, HostId, ObservedWorker, WorkerId } from '@berth/domain';
import { systemClock, systemRandom, type Clock } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import type { LinkAnswer } from '@berth/tunnel';
import { FreePorts, LocalWorkerLink } from '../src/load-balanced/index.js';
import { ProcessRuntime } from '../src/runtimes/process/process-runtime.js';
import { workerMetrics } from '../src/worker-reconciler/metrics.js';
import { WorkerReconciler } from '../src/worker-reconciler/worker-reconciler.js';
import { FakeBridge } from './fake-bridge.js';
import { FakeWorkerLogs } from './fake-worker-logs.js';
import { testMachine } from './test-machine.js';
import { MemoryRecords, assigned } from './worker-bench.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
const HOST_ID = 'host1' as HostId;
const ENDPOINT_ID = 'endpoint1' as EndpointId;
const WAIT = { deadlineMs: 90_000, intervalMs: 10 };
const STEP_MS = 1_000;

/** What a real process has to answer within runs as the process does: time of the test would be over before it. */
const withRealDeadlines = (clock: ManualClock): Clock => ({
  nowMs: () => clock.nowMs(),
  monotonicMs: () => clock.monotonicMs(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
  every: (ms, tick) => clock.every(ms, tick),
  after: (ms, act) => systemClock.after(ms, act),
});

/** An agent's load-balanced workers as real processes that are asked by real HTTP; only its own clock is the test's. */
export class ProcessBench {
  readonly clock = new ManualClock();
  readonly link: LocalWorkerLink;
  readonly runtime: ProcessRuntime;
  readonly #reconciler: WorkerReconciler;

  private constructor(runtime: ProcessRuntime) {
    const { clock } = this;
    const metrics = new MetricRegistry();
    this.runtime = runtime;
    this.link = new LocalWorkerLink({ hostId: HOST_ID, clock: withRealDeadlines(clock), metrics });
    this.#reconciler = new WorkerReconciler(
      {
        ...{ hostId: HOST_ID, runtime, bridge: new FakeBridge(), balanced: this.link, logs: new FakeWorkerLogs() },
        ...{ ports: new FreePorts(systemRandom), records: new MemoryRecords(), clock, random: systemRandom },
        ...{ volumes: { folderOf: async () => '' }, logger: silentLogger, metrics: workerMetrics(metrics) },
      },
      'LOCAL-1',
    );
  }

  static async open(home: string): Promise<ProcessBench> {
    const environment = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
    const runtime = await ProcessRuntime.open({
      ...{ workersFolder: join(home, 'workers'), imagesFolder: IMAGES, machine: testMachine() },
      ...{ clock: systemClock, random: systemRandom, environment, setupEnvironment: environment },
    });
    const bench = new ProcessBench(runtime);
    await bench.#reconciler.start();
    return bench;
  }

  /** The workers that shall be there, by the variables of each. */
  want(workers: Readonly<Record<WorkerId, Readonly<Record<string, string>>>>): void {
    const desired = Object.entries(workers).map(([workerId, env]): DesiredWorker => {
      const worker = assigned(workerId as WorkerId);
      const container = { ...worker.container, image: 'local/server', args: '', env };
      return { ...worker, endpointType: 'LOAD_BALANCER', slots: 2, container };
    });
    this.#reconciler.setDesired(desired, 'LOCAL-1');
  }

  /** The worker as it is reported, once that is so; time goes on until then. */
  until(workerId: WorkerId, check: (observed: ObservedWorker) => void): Promise<ObservedWorker> {
    return eventually(async () => {
      await this.clock.advance(STEP_MS);
      const observed = this.#reconciler.observed().find((each) => each.workerId === workerId);
      if (observed === undefined) throw new Error(`nothing is reported of ${workerId}`);
      check(observed);
      return observed;
    }, WAIT);
  }

  open(workerId: WorkerId): Promise<LinkAnswer> {
    return this.link.open({ hostId: HOST_ID, endpointId: ENDPOINT_ID, workerId }, new AbortController().signal);
  }

  async containerOf(workerId: WorkerId): Promise<string | null> {
    const container = await this.runtime.inspect(workerId);
    return container?.state.kind === 'running' ? container.containerId : null;
  }

  /** Ends everything, its processes too. */
  async close(): Promise<void> {
    await this.#reconciler.stop();
    this.link.close();
    for (const { labels } of await this.runtime.list()) await this.runtime.remove(labels.workerId);
    await this.runtime.close();
  }
}
