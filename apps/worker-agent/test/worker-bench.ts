import type { DesiredWorker, HostVolume } from '@berth/contracts';
import type { EndpointId, HostGpu, HostId, ObservedWorker, WorkerId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import type { WorkerRecords } from '../src/journal/worker-records.port.js';
import { workerMetrics } from '../src/worker-reconciler/metrics.js';
import { WorkerReconciler } from '../src/worker-reconciler/worker-reconciler.js';
import { FreePorts } from '../src/load-balanced/index.js';
import { FakeBalanced } from './fake-balanced.js';
import { FakeBridge } from './fake-bridge.js';
import { FakeMachine, FakeRuntime } from './fake-runtime.js';
import { FakeWorkerLogs } from './fake-worker-logs.js';

/** Records that survive the agent, as the journal's do: what is put is what JSON makes of it. */
export class MemoryRecords implements WorkerRecords {
  readonly #texts = new Map<string, string>();

  async put(key: string, value: unknown): Promise<void> {
    this.#texts.set(key, JSON.stringify(value));
  }

  async remove(key: string): Promise<void> {
    this.#texts.delete(key);
  }

  list(): ReadonlyMap<string, unknown> {
    return new Map([...this.#texts].map(([key, text]) => [key, JSON.parse(text) as unknown]));
  }
}

/** One host with pretended containers; `newAgent` is the agent's first life, or its next. */
export class WorkerBench {
  readonly clock = new ManualClock();
  readonly random = new SeededRandom(7);
  readonly machine: FakeMachine;
  readonly records = new MemoryRecords();

  constructor(gpus: readonly HostGpu[] = []) {
    this.machine = new FakeMachine(['local/echo'], gpus);
  }

  async newAgent(bridge = new FakeBridge()): Promise<BenchAgent> {
    const agent = new BenchAgent(this, bridge);
    await agent.reconciler.start();
    await this.clock.advance(0);
    return agent;
  }
}

export class BenchAgent {
  readonly bench: WorkerBench;
  readonly bridge: FakeBridge;
  readonly runtime: FakeRuntime;
  readonly balanced = new FakeBalanced();
  readonly logs = new FakeWorkerLogs();
  readonly reconciler: WorkerReconciler;

  constructor(bench: WorkerBench, bridge: FakeBridge) {
    const { clock, machine, random, records } = bench;
    this.bench = bench;
    this.bridge = bridge;
    this.runtime = new FakeRuntime(machine, clock);
    const metrics = workerMetrics(new MetricRegistry());
    const { runtime } = this;
    const hostId = 'host1' as HostId;
    const volumes = { folderOf: async ({ accountId, id }: HostVolume) => `/volumes/${accountId}/${id}` };
    const { balanced } = this;
    const parts = {
      hostId,
      runtime,
      bridge,
      balanced,
      ports: new FreePorts(random),
      logs: this.logs,
      records,
      volumes,
    };
    const tools = { ...parts, clock, random, logger: silentLogger, metrics };
    this.reconciler = new WorkerReconciler(tools, 'LOCAL-1');
  }

  /** The control plane wants exactly these. */
  async want(...desired: readonly DesiredWorker[]): Promise<void> {
    this.reconciler.setDesired(desired, 'LOCAL-1');
    await this.bench.clock.advance(0);
  }

  observed(workerId: WorkerId): ObservedWorker | null {
    return this.reconciler.observed().find((each) => each.workerId === workerId) ?? null;
  }

  /** As a SIGKILL of the agent leaves it: nobody looks after the containers any more. */
  async vanish(): Promise<void> {
    await this.reconciler.stop();
  }
}

export const W1 = 'w1' as WorkerId;
export const W2 = 'w2' as WorkerId;

export function assigned(workerId: WorkerId, more: Partial<DesiredWorker> = {}): DesiredWorker {
  return {
    workerId,
    endpointId: 'endpoint1' as EndpointId,
    release: 1,
    intent: 'running',
    container: {
      image: 'local/echo',
      args: 'stubborn',
      diskGb: null,
      env: { GREETING: 'hello' },
      ports: [],
      registryId: null,
    },
    resources: { vcpus: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, gpuTypeId: null, gpuCount: 0 },
    endpointType: 'QUEUE',
    executionTimeoutMs: 300_000,
    restarts: 0,
    ...more,
  };
}
