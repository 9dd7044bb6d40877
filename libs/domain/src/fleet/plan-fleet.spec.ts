import { beforeEach, describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { EndpointSpec } from '../endpoint/index.js';
import type { Host, HostIntent, Inventory } from '../host/index.js';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import { NO_DEMAND, type Demand } from '../scaling/index.js';
import type { ObservedWorker, Worker, WorkerPhase } from '../worker/index.js';
import { newFleetMemory, type FleetMemory } from './fleet-memory.js';
import { withOperation } from './fleet-operation.js';
import type { FleetEndpoint, WaitingWorker } from './fleet.js';
import type { EndpointPlan } from './endpoint-plan.js';
import { planFleet } from './plan-fleet.js';

const GIB = 2 ** 30;
const START_MS = 1_700_000_000_000;

const SPEC: EndpointSpec = {
  ...{ name: 'echo', type: 'QUEUE', scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
  container: { image: 'local/echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  workers: { min: 0, max: 3, idleTimeoutSeconds: null },
  ...{ gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }], dataCenterIds: [], networkVolumeIds: [] },
  ...{ flashboot: 'OFF', executionTimeoutMs: 300_000 },
};

const INVENTORY: Inventory = {
  ...{ vcpus: 8, isOvercommitted: false, memoryBytes: 64 * GIB, diskBytes: 500 * GIB },
  ...{ gpus: [], areGpusSimulated: false, cudaVersion: null, runtime: 'process', images: [] },
};

const queued = (queuedNormal: number): Partial<Demand> => ({ queuedNormal, oldestQueuedAtMs: START_MS });

type Asked = Readonly<Record<string, Partial<Demand>>>;

/** A fleet in which every plan is carried out at once, and time goes when the test says so. */
class FleetWalk {
  nowMs = START_MS;
  memory: FleetMemory = newFleetMemory(START_MS);
  workers: readonly Worker[] = [];
  readonly endpoints = new Map<EndpointId, FleetEndpoint>();
  readonly hosts = new Map<HostId, Host>();
  #made = 0;

  addEndpoint(id: string, spec: Partial<EndpointSpec> = {}, more: Partial<FleetEndpoint> = {}): void {
    const endpointId = id as EndpointId;
    const order = { createdAtMs: this.endpoints.size, deletedAtMs: null, lastDecision: null, volumeDataCenterIds: [] };
    const own = { id: endpointId, accountId: 'a' as never, spec: { ...SPEC, ...spec }, release: 1, version: 1 };
    this.endpoints.set(endpointId, { ...own, ...order, ...more });
  }

  change(id: string, more: Partial<FleetEndpoint>): void {
    const endpoint = this.endpoints.get(id as EndpointId);
    if (endpoint !== undefined) this.endpoints.set(endpoint.id, { ...endpoint, ...more });
  }

  addHost(id: string, more: Partial<Host> = {}): void {
    const name = { id: id as HostId, name: id, dataCenterId: 'local', labels: {}, intent: 'ready' as const };
    this.hosts.set(name.id, { ...name, inventory: INVENTORY, lastSeenAtMs: this.nowMs, ...more });
  }

  intend(id: string, intent: HostIntent): void {
    const host = this.hosts.get(id as HostId);
    if (host !== undefined) this.hosts.set(host.id, { ...host, intent });
  }

  hear(id: string): void {
    const host = this.hosts.get(id as HostId);
    if (host !== undefined) this.hosts.set(host.id, { ...host, lastSeenAtMs: this.nowMs });
  }

  /** The agent says this of one worker. */
  see({ id }: Pick<Worker, 'id'>, phase: WorkerPhase, more: Partial<ObservedWorker> = {}): void {
    this.workers = this.workers.map((worker): Worker => {
      if (worker.id !== id) return worker;
      const { endpointId, id: workerId, release } = worker;
      const told = { reason: '', runningJobs: Number(phase === 'busy'), failedStarts: 0, phaseSinceMs: this.nowMs };
      const observed = { workerId, endpointId, release, phase, ...told, startedAtMs: null, gpuTypeId: null, ...more };
      return { ...worker, observed };
    });
  }

  /** Agents say this of all workers. */
  seeAll(phase: WorkerPhase, more: Partial<ObservedWorker> = {}): void {
    for (const worker of this.workers) this.see(worker, phase, more);
  }

  /** One plan, carried out. Null: the demand is unknown; an endpoint that is not named has none. */
  pass(asked: Asked | null = {}): void {
    const demandOf = ({ id }: FleetEndpoint): Demand | null => (asked === null ? null : { ...NO_DEMAND, ...asked[id] });
    const endpoints = [...this.endpoints.values()];
    const fleet = { endpoints, hosts: this.hosts, workers: this.workers, accountLimits: new Map() };
    const newWorkerId = (): WorkerId => `w${(this.#made += 1)}` as WorkerId;
    const plan = planFleet(
      { fleet, catalog: SHIPPED_CATALOG, demandOf, memory: this.memory },
      { nowMs: this.nowMs, newWorkerId },
    );
    expect([...plan.failed]).toEqual([]);
    this.memory = plan.memory;
    for (const each of plan.endpoints) this.#carryOut(each);
  }

  /** A second at a time, with reports of the hosts that live and the demand told anew. */
  live(seconds: number, hosts: readonly string[], asked: Asked | null = {}): void {
    for (let second = 0; second < seconds; second += 1) {
      this.nowMs += 1_000;
      for (const host of hosts) this.hear(host);
      this.pass(asked);
    }
  }

  waiting(id: string): readonly WaitingWorker[] {
    return this.endpoints.get(id as EndpointId)?.lastDecision?.waiting ?? [];
  }

  decision(id: string): { readonly desired?: number; readonly reason?: string } {
    return this.endpoints.get(id as EndpointId)?.lastDecision ?? {};
  }

  get intents(): readonly string[] {
    return this.workers.map(({ hostId, intent }) => `${hostId} ${intent}`).toSorted();
  }

  get releases(): readonly string[] {
    return this.workers.map(({ intent, release }) => `${release} ${intent}`).toSorted();
  }

  #carryOut(plan: EndpointPlan): void {
    const { id: endpointId } = plan.endpoint;
    if (plan.kind === 'forget') {
      this.endpoints.delete(endpointId);
      return;
    }
    this.workers = plan.operations.reduce(withOperation, this.workers);
    const { desiredWorkers: desired, detail, reason } = plan.decision;
    const { starts, unplaced, waiting } = plan;
    const known = { waiting, starts, unplaced: unplaced?.count ?? 0 };
    this.change(endpointId, {
      lastDecision: { endpointId, desired, reason, detail, ...known, decidedAtMs: this.nowMs },
    });
  }
}

let fleet: FleetWalk;
beforeEach(() => {
  fleet = new FleetWalk();
});

describe('demand', () => {
  test('that is unknown changes nothing, also where the last plan is not remembered', () => {
    fleet.addEndpoint('e1');
    fleet.addHost('h1');
    fleet.pass({ e1: queued(1) });
    fleet.seeAll('idle');
    fleet.live(40, ['h1'], null);
    fleet.memory = newFleetMemory(fleet.nowMs);
    fleet.pass(null);
    expect(fleet.intents).toEqual(['h1 running']);
    expect(fleet.decision('e1')).toMatchObject({ desired: 1, reason: 'demand-unknown' });
  });

  test('for one worker alone resumes it beside one that is idle, keeps it up, and brings no other', () => {
    fleet.addEndpoint('e1', { flashboot: 'FLASHBOOT' });
    fleet.addHost('h1', { inventory: { ...INVENTORY, canPause: true } });
    fleet.pass({ e1: queued(2) });
    const [idle, wanted] = fleet.workers.map(({ id }) => id) as [WorkerId, WorkerId];
    fleet.see({ id: idle }, 'busy');
    fleet.see({ id: wanted }, 'idle', { idleSinceMs: fleet.nowMs });
    fleet.live(30, ['h1'], { e1: { running: 1 } });
    expect(fleet.intents).toEqual(['h1 paused', 'h1 running']);
    fleet.see({ id: wanted }, 'paused', { idleSinceMs: START_MS });
    fleet.see({ id: idle }, 'idle', { idleSinceMs: fleet.nowMs });
    const strict = { e1: { ...queued(5), strict: [{ workerId: wanted, queued: 5 }] } };
    fleet.pass(strict);
    expect(fleet.intents).toEqual(['h1 running', 'h1 running']);
    fleet.see({ id: wanted }, 'idle', { idleSinceMs: START_MS });
    fleet.live(30, ['h1'], strict);
    expect(fleet.workers.map(({ id, intent }) => `${id} ${intent}`)).toEqual([`${idle} paused`, `${wanted} running`]);
  });

  test('of low priority brings nobody', () => {
    fleet.addEndpoint('e1');
    fleet.addHost('h1');
    fleet.pass({ e1: { queuedLow: 5 } });
    expect(fleet.workers).toEqual([]);
  });
});

describe('an endpoint', () => {
  test('keeps its minimum without any demand, known or not', () => {
    fleet.addEndpoint('e1', { workers: { ...SPEC.workers, min: 2 } });
    fleet.addHost('h1');
    fleet.pass(null);
    expect(fleet.workers).toHaveLength(2);
    fleet.seeAll('idle');
    fleet.live(20, ['h1']);
    expect(fleet.intents).toEqual(['h1 running', 'h1 running']);
    expect(fleet.decision('e1')).toMatchObject({ desired: 2, reason: 'at-min' });
  });

  test('never has more workers than its maximum, leaving ones included', () => {
    fleet.addEndpoint('e1', { workers: { ...SPEC.workers, max: 2 } });
    fleet.addHost('h1');
    fleet.pass({ e1: queued(9) });
    fleet.seeAll('busy');
    fleet.change('e1', { release: 2 });
    for (let round = 0; round < 3; round += 1) fleet.pass({ e1: queued(9) });
    expect(fleet.releases).toEqual(['1 drained', '1 running']);
    fleet.seeAll('removed');
    fleet.pass({ e1: queued(9) });
    expect(fleet.releases).toEqual(['2 running', '2 running']);
  });

  test('with a new release gets workers as it wants them, one of them first', () => {
    const workers = { ...SPEC.workers, min: 2, max: 2 };
    fleet.addEndpoint('e1', { workers });
    fleet.addHost('h1');
    fleet.pass();
    const [idle, busy] = fleet.workers as readonly [Worker, Worker];
    fleet.see(idle, 'idle');
    fleet.see(busy, 'busy');
    fleet.change('e1', { release: 2, spec: { ...SPEC, workers, cpu: [{ flavorId: 'cpu5m', vcpuCount: 4 }] } });
    fleet.pass();
    fleet.see(idle, 'removed');
    fleet.pass();
    expect(fleet.workers.toSorted((a, b) => a.release - b.release)).toMatchObject([
      { id: busy.id, release: 1, intent: 'running', resources: { vcpus: 2 } },
      { release: 2, intent: 'running', resources: { vcpus: 4 } },
    ]);
    fleet.seeAll('idle');
    fleet.pass();
    expect(fleet.releases).toEqual(['1 drained', '2 running']);
    fleet.see(busy, 'removed');
    fleet.pass();
    expect(fleet.releases).toEqual(['2 running', '2 running']);
  });

  test('with network volumes has workers only where they lie', () => {
    fleet.addEndpoint('e1', { networkVolumeIds: ['v1'] }, { volumeDataCenterIds: ['EU-1'] });
    fleet.addHost('h1');
    fleet.pass({ e1: queued(1) });
    expect(fleet.waiting('e1')).toMatchObject([{ reason: 'network-volume', hosts: [{ id: 'h1' }] }]);
    fleet.addHost('h2', { dataCenterId: 'EU-1' });
    fleet.pass({ e1: queued(1) });
    expect(fleet.intents).toEqual(['h2 running']);
  });
});

describe('a worker without a place', () => {
  const BIG = { cpu: [{ flavorId: 'cpu3c', vcpuCount: 16 }] } as const;
  const SMALL = { inventory: { ...INVENTORY, vcpus: 2 } };

  test('waits with its reason, and since when, until a host has room', () => {
    fleet.addEndpoint('e1', BIG);
    fleet.addHost('h1');
    const since = new Date(fleet.nowMs).toISOString();
    fleet.pass({ e1: queued(2) });
    fleet.live(3, ['h1'], { e1: queued(2) });
    expect(fleet.waiting('e1')).toMatchObject([
      { reason: 'vcpu', since, hosts: [{ id: 'h1' }] },
      { reason: 'vcpu', since },
    ]);
    fleet.addHost('h2', { inventory: { ...INVENTORY, vcpus: 16, memoryBytes: 256 * GIB } });
    fleet.pass({ e1: queued(2) });
    expect(fleet.intents).toEqual(['h2 running']);
    expect(fleet.waiting('e1')).toMatchObject([{ reason: 'vcpu', since }]);
  });

  test('says since when it waits, whatever it waits for by now', () => {
    fleet.addEndpoint('e1', BIG);
    fleet.addHost('h1', { intent: 'cordoned' });
    const since = new Date(fleet.nowMs).toISOString();
    fleet.pass({ e1: queued(1) });
    const [first] = fleet.waiting('e1') ?? [];
    fleet.live(3, ['h1'], { e1: queued(1) });
    fleet.intend('h1', 'ready');
    fleet.pass({ e1: queued(1) });
    expect(first?.reason).not.toBe('vcpu');
    expect(fleet.waiting('e1')).toMatchObject([{ reason: 'vcpu', since }]);
  });

  test('comes before those that have waited for less long', () => {
    fleet.addEndpoint('late');
    fleet.addEndpoint('early');
    fleet.addHost('h1', { ...SMALL, intent: 'cordoned' });
    fleet.pass({ early: queued(1) });
    fleet.live(1, ['h1'], { early: queued(1), late: queued(1) });
    fleet.intend('h1', 'ready');
    fleet.pass({ early: queued(1), late: queued(1) });
    expect(fleet.workers.map(({ endpointId }) => endpointId)).toEqual(['early']);
  });

  test('gets the room of one that has gone, in the same plan, whichever endpoint is looked at first', () => {
    fleet.addHost('h1', SMALL);
    fleet.addEndpoint('new');
    fleet.addEndpoint('old');
    fleet.pass({ old: queued(1) });
    fleet.seeAll('removed');
    fleet.pass({ new: queued(1) });
    expect(fleet.workers.map(({ endpointId }) => endpointId)).toEqual(['new']);
  });

  test('is described for a bounded number of workers and hosts', () => {
    fleet.addEndpoint('e1', { ...BIG, workers: { ...SPEC.workers, max: 1_000 } });
    for (let index = 0; index < 60; index += 1) fleet.addHost(`h${index}`);
    fleet.pass({ e1: queued(1_000) });
    const waiting = fleet.waiting('e1');
    expect([waiting.length, waiting[0]?.hosts.length]).toEqual([50, 50]);
  });
});

describe('a host', () => {
  beforeEach(() => {
    fleet.addEndpoint('e1');
    fleet.addHost('h1');
    fleet.pass({ e1: queued(1) });
  });

  test('that is lost loses its workers to another', () => {
    fleet.seeAll('busy');
    fleet.addHost('h2');
    fleet.live(29, ['h2'], { e1: queued(1) });
    expect(fleet.intents).toEqual(['h1 running']);
    fleet.live(1, ['h2'], { e1: queued(1) });
    expect(fleet.intents).toEqual(['h2 running']);
  });

  test('keeps its workers while nobody is heard at all', () => {
    fleet.addHost('h2');
    fleet.live(120, [], { e1: queued(1) });
    fleet.live(1, ['h2'], { e1: queued(1) });
    expect(fleet.intents).toEqual(['h1 running']);
  });

  test('keeps its workers when nobody looked for a while and another host is the first to be heard again', () => {
    fleet.addHost('h2');
    fleet.nowMs += 60_000;
    fleet.hear('h2');
    fleet.pass({ e1: queued(1) });
    expect(fleet.intents).toEqual(['h1 running']);
  });

  test('that is drained gets rid of its workers while others take over; cordoned, it keeps what it has', () => {
    fleet.seeAll('busy');
    fleet.intend('h1', 'cordoned');
    fleet.addHost('h2');
    fleet.pass({ e1: queued(2) });
    expect(fleet.intents).toEqual(['h1 running', 'h2 running']);
    fleet.intend('h1', 'draining');
    fleet.pass({ e1: queued(2) });
    expect(fleet.intents).toEqual(['h1 running', 'h2 running']);
    for (let round = 0; round < 2; round += 1) {
      fleet.seeAll('idle');
      fleet.pass({ e1: queued(2) });
    }
    expect(fleet.intents).toEqual(['h1 drained', 'h2 running', 'h2 running']);
  });

  test('that is drained where nobody else has room gets rid of its workers all the same', () => {
    fleet.seeAll('busy');
    fleet.intend('h1', 'draining');
    fleet.pass({ e1: queued(1) });
    expect(fleet.intents).toEqual(['h1 drained']);
    expect(fleet.decision('e1')).toMatchObject({ unplaced: 1, waiting: [{ reason: 'host-draining' }] });
  });

  test('that is full gives the place of one old worker to a new release, and of no second', () => {
    fleet.pass({ e1: queued(2) });
    fleet.seeAll('idle');
    fleet.addHost('h1', { inventory: { ...INVENTORY, vcpus: 4 } });
    fleet.change('e1', { release: 2 });
    for (let round = 0; round < 2; round += 1) fleet.pass({ e1: queued(2) });
    expect(fleet.releases).toEqual(['1 drained', '1 running']);
    for (const worker of fleet.workers) if (worker.intent === 'drained') fleet.see(worker, 'removed');
    fleet.pass({ e1: queued(2) });
    expect(fleet.releases).toEqual(['1 running', '2 running']);
  });

  test('on which several endpoints fail that fail nowhere else gets new workers last', () => {
    for (const id of ['e2', 'e3', 'e4']) fleet.addEndpoint(id, { workers: { ...SPEC.workers, min: 1, max: 1 } });
    fleet.pass();
    for (const worker of fleet.workers)
      if (worker.endpointId !== 'e1') fleet.see(worker, 'waiting', { failedStarts: 3 });
    fleet.addHost('h2', { inventory: { ...INVENTORY, vcpus: 64 } });
    fleet.pass({ e1: queued(2) });
    const placed = fleet.workers.filter(({ endpointId, intent }) => endpointId === 'e1' && intent === 'running');
    expect(placed.map(({ hostId }) => hostId)).toEqual(['h1', 'h2']);
  });

  test('that is removed takes its workers with it, and they are placed again', () => {
    fleet.addHost('h2');
    fleet.hosts.delete('h1' as HostId);
    fleet.pass({ e1: queued(1) });
    expect(fleet.intents).toEqual(['h2 running']);
  });
});

test('a worker that fails again and again goes to another host, within the maximum, and stays where none is left', () => {
  fleet.addEndpoint('e1', { workers: { ...SPEC.workers, max: 1 } });
  fleet.addHost('h1');
  fleet.addHost('h2');
  const demand = { e1: queued(1) };
  fleet.pass(demand);
  const first = fleet.workers[0]?.hostId;
  const other = first === 'h1' ? 'h2' : 'h1';
  fleet.seeAll('waiting', { failedStarts: 2 });
  fleet.pass(demand);
  expect(fleet.intents).toEqual([`${first} running`]);
  fleet.seeAll('waiting', { failedStarts: 3 });
  fleet.pass(demand);
  expect(fleet.intents).toEqual([`${first} drained`]);
  fleet.seeAll('removed', { failedStarts: 3 });
  fleet.pass(demand);
  expect(fleet.workers).toMatchObject([{ hostId: other, intent: 'running', failedOn: [first] }]);
  fleet.seeAll('waiting', { failedStarts: 3 });
  fleet.pass(demand);
  const why = `it has failed 3 times in a row on host ${other} and stays there: it failed on every other host as well`;
  expect(fleet.workers).toMatchObject([{ hostId: other, intent: 'running', staysBecause: why }]);
});
