import { assignmentSnapshotShape, type AssignmentSnapshot, type WakeMessage } from '@berth/contracts';
import { readShape } from '@berth/domain/shape';
import {
  SHIPPED_CATALOG,
  DELETED_KEPT_MS,
  type AccountId,
  type Demand,
  type EndpointId,
  type HostId,
  type Inventory,
  type WorkerPhase,
} from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { SeededRandom } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { EndpointEntity, HostEntity, type WorkerEntity } from '../src/persistence/entities/index.js';
import type { LeaderTerm } from '../src/leadership/leader-lease.js';
import { DecisionCounts } from '../src/reconcilers/decisions/decision-counts.js';
import { DemandBoard } from '../src/reconcilers/demand/demand-board.js';
import type { Assignments, FleetPublisher } from '../src/reconcilers/fleet-publisher.port.js';
import { FleetReconciler, type PassOutcome } from '../src/reconcilers/fleet-reconciler.js';
import { controllersMetrics } from '../src/reconcilers/metrics.js';
import { TermOverError } from '../src/leadership/require-term.js';
import { ScalingHistoryStore } from '../src/scaling-history/scaling-history.store.js';
import { Database } from '../src/persistence/database.js';
import { demandMessage, GIB, INVENTORY, observed, SPEC, useFleetBench } from './fleet-bench.js';

const bench = useFleetBench();

/** What routers and agents would have heard, in order. */
class RecordedPublisher implements FleetPublisher {
  readonly told: string[] = [];
  readonly wakes: WakeMessage[] = [];
  readonly assignments = new Map<EndpointId, AssignmentSnapshot>();
  failure: Error | null = null;
  pulses = 0;

  async publishAssignments({ snapshots, unknown }: Assignments, beforeEach: () => void): Promise<void> {
    beforeEach();
    if (this.failure !== null) throw this.failure;
    for (const id of this.assignments.keys()) if (!unknown.has(id)) this.assignments.delete(id);
    for (const snapshot of snapshots)
      if (snapshot.workers.length > 0 || (snapshot.outlook?.desired ?? 0) > 0)
        this.assignments.set(snapshot.endpointId, snapshot);
    this.told.push('assignments');
  }

  assignmentOf(endpointId: EndpointId): AssignmentSnapshot | null {
    return this.assignments.get(endpointId) ?? null;
  }

  pulse(): void {
    this.pulses += 1;
  }

  wake(hostId: HostId, message: WakeMessage): void {
    this.told.push(`wake ${hostId}`);
    this.wakes.push(message);
  }

  phases(endpointId: string): readonly string[] {
    const { workers = [] } = this.assignments.get(endpointId as EndpointId) ?? {};
    return workers.map(({ isDraining, phase }) => (isDraining ? `${phase}, draining` : phase));
  }
}

let publisher: RecordedPublisher;
let demand: DemandBoard;
let term: LeaderTerm;
let fleet: FleetReconciler;
let store: ReturnType<typeof overtakableStore>;

/** The real store, with a place to do something between the reading of the rows and the first write. */
function overtakableStore() {
  const real = bench.store;
  const load = real.load.bind(real);
  const overtakable = Object.assign(real, {
    meanwhile: async (): Promise<void> => undefined,
    load: async (ids: readonly EndpointId[]) => {
      const loaded = await load(ids);
      await overtakable.meanwhile();
      return loaded;
    },
  });
  return overtakable;
}

/** In place of the history's own; null: that one. */
let append: ScalingHistoryStore['append'] | null;

const entries = (endpointId: string): Promise<readonly object[]> =>
  bench.source.query(`SELECT * FROM scaling_decisions WHERE endpoint_id = $1 ORDER BY ordinal`, [endpointId]);

const newFleet = (): FleetReconciler => {
  const history = new ScalingHistoryStore(new Database(bench.source));
  const metrics = controllersMetrics(new MetricRegistry());
  const random = new SeededRandom(bench.clock.nowMs());
  return new FleetReconciler({
    catalog: SHIPPED_CATALOG,
    store,
    history: { append: (entry) => (append ?? ((each) => history.append(each)))(entry) },
    demand,
    random,
    publisher,
    clock: bench.clock,
    term,
    logger: silentLogger,
    metrics,
    counts: new DecisionCounts(metrics.decisions, bench.clock),
  });
};

beforeEach(async () => {
  publisher = new RecordedPublisher();
  append = null;
  demand = new DemandBoard();
  store = overtakableStore();
  term = (await bench.leaderLease('leader', 10_000_000)).currentTerm();
  fleet = newFleet();
});

const ask = (endpoints: Readonly<Record<string, Partial<Demand>>>): void => {
  demand.take(demandMessage(bench.clock.nowMs(), endpoints), bench.clock.monotonicMs());
};

const queued = (count: number, sinceMs = bench.clock.nowMs()): Partial<Demand> => ({
  queuedNormal: count,
  oldestQueuedAtMs: sinceMs,
});

/** One pass with this demand. */
const pass = (endpoints: Readonly<Record<string, Partial<Demand>>> = {}): Promise<PassOutcome> => {
  ask(endpoints);
  return fleet.run();
};

/** Reports all workers of a host in this phase; drained ones as draining. */
async function reportAll(hostId: string, phase: 'idle' | 'busy' | 'removed'): Promise<void> {
  const own = (await bench.workers()).filter((worker) => worker.hostId === hostId);
  const workers = own.map(({ endpointId, id }) => observed(id, phase, { endpointId: endpointId as EndpointId }));
  await bench.report(hostId, workers);
}

/** A second at a time, as the loop does: with reports of the hosts that live and the demand told anew. */
async function live(
  seconds: number,
  hosts: readonly string[],
  endpoints: Readonly<Record<string, Partial<Demand>>> = {},
): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await bench.clock.advance(1_000);
    for (const hostId of hosts) await bench.report(hostId);
    await pass(endpoints);
  }
}

const releases = async (): Promise<readonly string[]> =>
  (await bench.workers()).map(({ intent, release }) => `${release} ${intent}`).toSorted();

describe('the assignment of a load-balanced endpoint', () => {
  const scaling = (requestCount: number) => ({ type: 'REQUEST_COUNT', requestCount }) as const;
  const workersRange = { min: 1, max: 1, idleTimeoutSeconds: 10 };
  const assignment = (endpointId: string) => publisher.assignments.get(endpointId as EndpointId);

  test('says where its workers listen, as their agents do, and how many requests each may have', async () => {
    await bench.addEndpoint('e1', { type: 'LOAD_BALANCER', scaling: scaling(4), workers: workersRange });
    await bench.addEndpoint('e2', { scaling: scaling(4), workers: { ...workersRange, idleTimeoutSeconds: null } });
    await bench.addHost('h1');
    await pass();
    expect(assignment('e1')?.slotsPerWorker).toBe(4);
    expect(assignment('e1')?.workers).toMatchObject([{ hostId: 'h1', phase: 'preparing', isDraining: false }]);
    expect(assignment('e1')?.workers[0]).not.toHaveProperty('port');
    const ports = { port: 8080, healthPort: 80 };
    const [worker] = await bench.workers('e1');
    await bench.report('h1', [observed(worker!.id, 'idle', ports)]);
    await bench.change(EndpointEntity, 'e1', {
      spec: { ...SPEC, type: 'LOAD_BALANCER', scaling: scaling(2), workers: workersRange },
    });
    await pass();
    expect(assignment('e1')).toMatchObject({
      slotsPerWorker: 2,
      workers: [{ id: worker!.id, phase: 'idle', ...ports }],
    });
    expect(assignment('e2')?.workers).toHaveLength(1);
    expect(assignment('e2')).not.toHaveProperty('slotsPerWorker');
  });

  test('says nothing where a host did, and can be read', async () => {
    await bench.addEndpoint('e1', { type: 'LOAD_BALANCER', scaling: scaling(1), workers: workersRange });
    await bench.addHost('h1');
    await pass();
    const [worker] = await bench.workers('e1');
    await bench.report('h1', [observed(worker!.id, 'idle', { port: null, healthPort: 80 } as never)]);
    await pass();
    const { shape } = assignmentSnapshotShape;
    expect(readShape(shape, JSON.parse(JSON.stringify(assignment('e1'))))).toMatchObject({ kind: 'value' });
    expect(assignment('e1')?.workers[0]).not.toHaveProperty('healthPort');
  });
});

const hostsOf = (workers: readonly WorkerEntity[]): readonly string[] => workers.map(({ hostId }) => hostId).toSorted();

describe('demand', () => {
  test('brings workers: a row each, then the routers know, then the hosts are woken', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(2) });
    expect(hostsOf(await bench.workers('e1'))).toEqual(['h1', 'h1']);
    expect(await bench.decision('e1')).toMatchObject({ desired: 2, reason: 'from-zero', waiting: [] });
    expect(publisher.told).toEqual(['assignments', 'wake h1']);
    expect(publisher.phases('e1')).toEqual(['preparing', 'preparing']);
  });

  test('is answered before the decision is written down, and what of that fails is made up for by the next pass', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    append = () => Promise.reject(new Error('the history is away'));
    await expect(pass({ e1: queued(1) })).rejects.toThrow('endpoints that failed: e1');
    expect(publisher.told).toEqual(['assignments', 'wake h1']);
    expect(publisher.phases('e1')).toEqual(['preparing']);
    expect(await bench.decision('e1')).toBeNull();
    append = null;
    await pass({ e1: queued(1) });
    expect(await bench.decision('e1')).toMatchObject({ desired: 1 });
    expect(await entries('e1')).toMatchObject([{ desired_before: 0, desired: 1 }]);
    expect(await bench.workers('e1')).toHaveLength(1);
    expect(publisher.told).toEqual(['assignments', 'wake h1', 'assignments']);
  });

  test('that stays the same changes nothing and wakes nobody, and what workers do is passed on', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    const workers = await bench.workers();
    await reportAll('h1', 'idle');
    publisher.told.length = 0;
    await pass({ e1: queued(1) });
    expect((await bench.workers()).map(({ id }) => id)).toEqual(workers.map(({ id }) => id));
    expect(publisher.told).toEqual(['assignments']);
    expect(publisher.phases('e1')).toEqual(['idle']);
  });

  test('that vanishes lets idle workers go after the idle time, and the endpoint out of sight after them', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    await reportAll('h1', 'idle');
    await live(9, []);
    expect(await bench.workers()).toMatchObject([{ intent: 'running' }]);
    expect(await bench.decision('e1')).toMatchObject({ desired: 1, reason: 'idle-grace' });
    await live(3, []);
    expect(await bench.workers()).toMatchObject([{ intent: 'drained' }]);
    expect(publisher.phases('e1')).toEqual(['idle, draining']);
    await reportAll('h1', 'removed');
    publisher.told.length = 0;
    await pass();
    expect(await bench.workers()).toEqual([]);
    expect(publisher.told).toEqual(['assignments', 'wake h1']);
    expect(publisher.assignments.size).toBe(0);
    expect(await bench.decision('e1')).toMatchObject({ desired: 0, reason: 'no-demand' });
    expect((await bench.store.load([])).endpoints).toEqual([]);
  });

  test('is looked at again just when a job will have waited too long', async () => {
    const scaling = { type: 'QUEUE_DELAY', queueDelaySeconds: 4 } as const;
    await bench.addEndpoint('e1', { scaling, workers: { ...SPEC.workers, idleTimeoutSeconds: 10 } });
    await bench.addHost('h1');
    const sinceMs = bench.clock.nowMs();
    await pass({ e1: queued(3, sinceMs) });
    await reportAll('h1', 'busy');
    await bench.clock.advance(700);
    const { recheckAtMs } = await pass({ e1: { ...queued(2, sinceMs), running: 1 } });
    expect(recheckAtMs).toBe(sinceMs + 4_001);
    await bench.clock.advance(4_001 - 700);
    await pass({ e1: { ...queued(2, sinceMs), running: 1 } });
    expect(await bench.workers()).toHaveLength(2);
    expect(await bench.decision('e1')).toMatchObject({ desired: 2, reason: 'queue-delay' });
  });

  test("for an endpoint that does not exist is nobody's", async () => {
    await pass({ unknown: queued(1) });
    expect(await bench.decision('unknown')).toBeNull();
  });
});

describe('an endpoint', () => {
  test('with a release that does not come up keeps one worker that tries, over leaders and what is gone', async () => {
    await bench.addEndpoint('e1', { workers: { ...SPEC.workers, min: 3, max: 3 } });
    await bench.addHost('h1');
    await pass();
    const failing = { failedStarts: 2, reason: 'exit code 3', failure: 'container' as const };
    const fail = async (): Promise<void> => {
      const workers = await bench.workers();
      await bench.report(
        'h1',
        workers.map(({ id, intent }) => observed(id, intent === 'drained' ? 'removed' : 'waiting', failing)),
      );
    };
    await fail();
    await pass();
    expect(await releases()).toEqual(['1 drained', '1 drained', '1 running']);
    expect(publisher.assignments.get('e1' as EndpointId)?.outlook?.crashLoop?.detail).toMatch(
      /^release 1 does not.*code 3$/,
    );
    await fail();
    await bench.clock.advance(1);
    fleet = newFleet();
    await pass();
    await pass();
    expect(await releases()).toEqual(['1 running']);
    expect((await bench.decision('e1'))?.starts).toMatchObject({ release: 1, failedStarts: 6 });
    await bench.source.query('UPDATE workers SET restarts = restarts + 1');
    await pass();
    expect(await releases()).toEqual(['1 running', '1 running', '1 running']);
  });

  test('with network volumes has workers only where they lie', async () => {
    await bench.addEndpoint('e1', { networkVolumeIds: ['v1'] });
    await bench.source.query(
      `INSERT INTO network_volumes (id, account_id, name, size_gb, data_center_id, type)
       SELECT 'v1', account_id, 'v', 10, 'EU-1', 'STANDARD' FROM endpoints`,
    );
    await bench.source.query(
      `INSERT INTO endpoint_volumes (account_id, endpoint_id, volume_id) SELECT account_id, id, 'v1' FROM endpoints`,
    );
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    expect(await bench.decision('e1')).toMatchObject({
      waiting: [
        {
          reason: 'network-volume',
          hosts: [{ id: 'h1', reason: 'the host is in local, network volumes lie in EU-1' }],
        },
      ],
    });
    await bench.addHost('h2', { dataCenterId: 'EU-1' });
    await pass({ e1: queued(1) });
    expect(await bench.decision('e1')).toMatchObject({
      waiting: [{ hosts: [{ id: 'h1' }, { id: 'h2', reason: 'the host offers no storage for network volumes' }] }],
    });
    await bench.addHost('h3', { dataCenterId: 'EU-1', inventory: { ...INVENTORY, volumes: { storageId: 's3' } } });
    await pass({ e1: queued(1) });
    expect(await bench.workers()).toMatchObject([{ hostId: 'h3', volumeId: 'v1' }]);
    expect(await bench.source.query(`SELECT id, storage_id FROM network_volumes`)).toEqual([
      { id: 'v1', storage_id: 's3' },
    ]);
  });

  test('keeps to the storage on which its volume lies, also when another host has room', async () => {
    await bench.addEndpoint('e1', { networkVolumeIds: ['v1'] });
    await bench.source.query(
      `INSERT INTO network_volumes (id, account_id, name, size_gb, data_center_id, type, storage_id)
       SELECT 'v1', account_id, 'v', 10, 'local', 'STANDARD', 's1' FROM endpoints`,
    );
    await bench.source.query(
      `INSERT INTO endpoint_volumes (account_id, endpoint_id, volume_id) SELECT account_id, id, 'v1' FROM endpoints`,
    );
    await bench.addHost('h1', { inventory: { ...INVENTORY, vcpus: 2, volumes: { storageId: 's1' } } });
    await bench.addHost('h2', { inventory: { ...INVENTORY, volumes: { storageId: 's2' } } });
    await pass({ e1: queued(2) });
    expect(hostsOf(await bench.workers())).toEqual(['h1']);
    await bench.addHost('h3', { inventory: { ...INVENTORY, volumes: { storageId: 's1' } } });
    await pass({ e1: queued(2) });
    expect(hostsOf(await bench.workers())).toEqual(['h1', 'h3']);
  });

  test("that is deleted lets its workers finish, goes out of the routers' sight, and is forgotten in time", async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    await reportAll('h1', 'busy');
    await bench.change(EndpointEntity, 'e1', { deletedAt: new Date(bench.clock.nowMs()) });
    await pass({ e1: queued(5) });
    expect(publisher.phases('e1')).toEqual(['busy, draining']);
    await reportAll('h1', 'removed');
    await pass({ e1: queued(5) });
    expect(await bench.workers()).toEqual([]);
    expect(publisher.assignments.size).toBe(0);
    await bench.clock.advance(DELETED_KEPT_MS);
    await pass();
    expect(await bench.source.getRepository(EndpointEntity).count()).toBe(1);
    await bench.clock.advance(1);
    await pass();
    expect(await bench.source.getRepository(EndpointEntity).count()).toBe(0);
  });

  test('that cannot be seen to keeps no other waiting, and what is told of it stays', async () => {
    await bench.addEndpoint('good');
    await bench.addEndpoint('bad');
    await bench.addHost('h1');
    await pass({ bad: queued(1) });
    await bench.source.query(
      `ALTER TABLE endpoints DROP CONSTRAINT endpoints_scaling, DROP CONSTRAINT endpoints_idle_timeout`,
    );
    await bench.source.query(`UPDATE endpoints SET spec = spec || '{"scaling": null}' WHERE id = 'bad'`);
    await expect(pass({ bad: queued(1), good: queued(1) })).rejects.toThrow('endpoints that failed: bad');
    expect(await bench.workers('good')).toHaveLength(1);
    expect(publisher.phases('bad')).toEqual(['preparing']);
    expect(publisher.told).toEqual(['assignments', 'wake h1', 'assignments', 'wake h1']);
  });
});

describe('a worker without a place', () => {
  const BIG = { cpu: [{ flavorId: 'cpu3c', vcpuCount: 16 }] } as const;
  const bigHost = { inventory: { ...INVENTORY, vcpus: 16, memoryBytes: 256 * GIB } };

  test('waits with its reason and since when, over passes and leaders, until a host has room', async () => {
    await bench.addEndpoint('e1', BIG);
    await bench.addHost('h1');
    const since = new Date(bench.clock.nowMs()).toISOString();
    await pass({ e1: queued(2) });
    await live(3, ['h1'], { e1: queued(2) });
    fleet = newFleet();
    await live(3, ['h1'], { e1: queued(2) });
    const { waiting = [], ...decision } = (await bench.decision('e1')) ?? {};
    expect(decision).toMatchObject({ desired: 2, decidedAt: new Date(since) });
    expect(waiting).toHaveLength(2);
    expect(waiting[0]).toMatchObject({ reason: 'vcpu', since, hosts: [{ id: 'h1' }] });
    await bench.addHost('h2', bigHost);
    await pass({ e1: queued(2) });
    expect(hostsOf(await bench.workers())).toEqual(['h2']);
    expect((await bench.decision('e1'))?.waiting).toMatchObject([{ reason: 'vcpu', since }]);
  });
});

describe('a host', () => {
  beforeEach(async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
  });

  test('that is lost loses its workers to another, and theirs do not come back', async () => {
    await pass({ e1: queued(1) });
    await reportAll('h1', 'busy');
    await bench.addHost('h2');
    await live(29, ['h2'], { e1: queued(1) });
    expect(hostsOf(await bench.workers())).toEqual(['h1']);
    await live(1, ['h2'], { e1: queued(1) });
    expect(hostsOf(await bench.workers())).toEqual(['h2']);
    expect(publisher.told.slice(-3)).toEqual(['assignments', 'wake h1', 'wake h2']);
    expect(await bench.sessions.desired('h1' as HostId)).toEqual([]);
  });

  test('that is removed takes its workers with it, and they are placed again', async () => {
    await pass({ e1: queued(1) });
    await bench.addHost('h2');
    await bench.source.getRepository(HostEntity).delete({ id: 'h1' });
    await pass({ e1: queued(1) });
    expect(hostsOf(await bench.workers())).toEqual(['h2']);
  });

  test('that went away while the plan was made fails its endpoint for one pass only', async () => {
    store.meanwhile = () => bench.source.query(`DELETE FROM hosts`);
    await expect(pass({ e1: queued(1) })).rejects.toThrow('endpoints that failed: e1');
    store.meanwhile = async () => undefined;
    await bench.addHost('h2');
    await pass({ e1: queued(1) });
    expect(hostsOf(await bench.workers())).toEqual(['h2']);
  });
});

describe('what happens during a pass', () => {
  beforeEach(async () => {
    await bench.addEndpoint('e1', { workers: { ...SPEC.workers, max: 1 } });
    await bench.addHost('h1');
  });

  test('a lost host that reports just then keeps its worker, no second one is placed, and the plan is made anew', async () => {
    await pass({ e1: queued(1) });
    await bench.addHost('h2');
    await live(29, ['h2'], { e1: queued(1) });
    await bench.clock.advance(1_000);
    store.meanwhile = () => reportAll('h1', 'busy');
    expect(await pass({ e1: queued(1) })).toEqual({ recheckAtMs: bench.clock.nowMs() });
    expect(hostsOf(await bench.workers())).toEqual(['h1']);
    expect(publisher.phases('e1')).toEqual(['preparing']);
    store.meanwhile = async () => undefined;
    await pass({ e1: queued(1) });
    expect(publisher.phases('e1')).toEqual(['busy']);
  });

  test('a term that ends before the first write leaves everything to the next leader', async () => {
    term = { ...term, isOver: () => true };
    fleet = newFleet();
    await expect(pass({ e1: queued(1) })).rejects.toBeInstanceOf(TermOverError);
    expect(await bench.workers()).toEqual([]);
    expect(await bench.decision('e1')).toBeNull();
    expect(publisher.told).toEqual([]);
  });

  test('a leader that was replaced without knowing places nothing and tells nothing', async () => {
    await bench.source.query(`UPDATE leader_leases SET holder = 'other', term = term + 1`);
    await expect(pass({ e1: queued(1) })).rejects.toBeInstanceOf(TermOverError);
    expect(await bench.workers()).toEqual([]);
    expect(publisher.told).toEqual([]);
  });

  test('routers that cannot be told leave the host asleep; it is woken when they know', async () => {
    publisher.failure = new Error('the broker is away');
    await expect(pass({ e1: queued(1) })).rejects.toThrow('the broker is away');
    expect(await bench.workers()).toHaveLength(1);
    // What was done is in the history all the same.
    expect(await bench.decision('e1')).toMatchObject({ desired: 1 });
    expect(await entries('e1')).toMatchObject([{ outcome: { created: 1 } }]);
    publisher.failure = null;
    await pass({ e1: queued(1) });
    expect(publisher.told).toEqual(['assignments', 'wake h1']);
    expect(await bench.workers()).toHaveLength(1);
  });

  test('a second leader with the same rows does nothing twice', async () => {
    await pass({ e1: queued(1) });
    const before = await bench.workers();
    const decision = await bench.decision('e1');
    fleet = newFleet();
    await bench.clock.advance(1_000);
    await pass({ e1: queued(1) });
    expect(await bench.workers()).toEqual(before);
    expect((await bench.decision('e1'))?.desired).toBe(decision?.desired);
  });
});

describe('the outlook', () => {
  const outlookOf = (endpointId: string) => publisher.assignments.get(endpointId as EndpointId)?.outlook;

  test('says which filter refused each host, also of an endpoint without workers, and since when', async () => {
    const gpu = { pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null };
    await bench.addEndpoint('e1', { gpu, cpu: null });
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    const startedMs = bench.clock.nowMs();
    expect(publisher.assignments.get('e1' as EndpointId)?.workers).toEqual([]);
    expect(outlookOf('e1')).toMatchObject({
      desired: 1,
      coming: [],
      unplaced: { count: 1, reason: 'gpu-type', sinceMs: startedMs, hosts: [{ id: 'h1', reason: 'gpu-type' }] },
    });
    await live(3, ['h1'], { e1: queued(1) });
    expect(outlookOf('e1')?.unplaced?.sinceMs).toBe(startedMs);
  });

  test('says how far each worker has come and why it does not, and the same again while nothing changes', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    expect(outlookOf('e1')?.coming).toMatchObject([{ stage: 'placed', reason: 'worker-starting' }]);
    const [worker] = await bench.workers();
    const failed = { reason: 'image-missing: no such image', failedStarts: 1, failure: 'image' as const };
    const report = () => bench.report('h1', [observed(worker?.id ?? '', 'waiting', failed)]);
    await report();
    await pass({ e1: queued(1) });
    const told = outlookOf('e1');
    expect(told?.coming).toMatchObject([{ stage: 'delayed', reason: 'image-error', detail: failed.reason }]);
    await bench.clock.advance(20_000);
    await report();
    await pass({ e1: queued(1) });
    expect(outlookOf('e1')).toEqual(told);
  });

  test('comes with a sign of life after every pass', async () => {
    await pass();
    await pass();
    expect(publisher.pulses).toBe(2);
  });
});

describe('a worker whose short jobs fall between two looks at the demand', () => {
  const idle = async (idleSinceMs?: number): Promise<void> => {
    const [worker] = await bench.workers();
    const seen = observed(worker!.id, 'idle', { endpointId: 'e1' as EndpointId });
    await bench.report('h1', [{ ...seen, ...(idleSinceMs === undefined ? {} : { idleSinceMs }) }]);
  };

  test('stays for the idle time after the last of them, though no demand ever told of it', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    await idle();
    await live(9, []);
    await idle(bench.clock.nowMs());
    await live(9, []);
    expect(await bench.workers()).toMatchObject([{ intent: 'running' }]);
    await live(2, []);
    expect(await bench.workers()).toMatchObject([{ intent: 'drained', leavesAfterIdleMs: 10_000 }]);
    expect(await bench.sessions.desired('h1' as HostId)).toMatchObject([{ leavesAfterIdleMs: 10_000 }]);
  });

  test('is taken back when it is wanted before it has gone', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    await idle(bench.clock.nowMs());
    await live(12, []);
    const [before] = await bench.workers();
    expect(before).toMatchObject({ intent: 'drained' });
    await pass({ e1: queued(1) });
    expect(await bench.workers()).toMatchObject([{ id: before?.id, intent: 'running', leavesAfterIdleMs: null }]);
  });
});

describe('a worker of an endpoint with flashboot', () => {
  let machine: Inventory = INVENTORY;
  const report = async (phase: WorkerPhase): Promise<void> => {
    for (const { endpointId, hostId, id } of await bench.workers()) {
      const idleSinceMs = bench.clock.nowMs() - 60_000;
      const seen = { ...observed(id, phase, { endpointId: endpointId as EndpointId }), idleSinceMs };
      await bench.report(hostId, [seen], machine);
    }
  };
  const paused = async (inventory: Partial<Inventory> = {}): Promise<void> => {
    machine = { ...INVENTORY, canPause: true, ...inventory };
    await bench.addEndpoint('e1', { flashboot: 'FLASHBOOT' });
    await bench.addHost('h1', { inventory: machine });
    await pass({ e1: queued(1) });
    await report('idle');
    await live(12, []);
    await report('paused');
    await pass({});
  };

  test('is paused for want of jobs, told so to its host, and resumed when it is wanted', async () => {
    await paused();
    const [worker] = await bench.workers();
    expect(worker).toMatchObject({ intent: 'paused', leavesAfterIdleMs: 10_000 });
    const [desired] = await bench.sessions.desired('h1' as HostId);
    expect(desired).toMatchObject({ intent: 'paused', pausesAfterIdleMs: 10_000 });
    expect(desired).not.toHaveProperty('leavesAfterIdleMs');
    expect(publisher.phases('e1')).toEqual(['idle']);
    expect(publisher.wakes.at(-1)).toEqual({ resumedIds: [] });
    await pass({ e1: queued(1) });
    expect(await bench.workers()).toMatchObject([{ id: worker?.id, intent: 'running', leavesAfterIdleMs: null }]);
    expect(publisher.wakes.at(-1)).toEqual({ resumedIds: [worker?.id], isAll: true });
  });

  test('is let go by a host that cannot pause it any more', async () => {
    await paused();
    await bench.source.query(`UPDATE hosts SET inventory = inventory - 'canPause'`);
    expect(await bench.sessions.desired('h1' as HostId)).toMatchObject([{ intent: 'drained' }]);
    await pass({});
    expect(await bench.workers()).toMatchObject([{ intent: 'drained', leavesAfterIdleMs: null }]);
  });

  test('leaves at once when flashboot is switched off', async () => {
    await paused();
    await bench.source.query(`UPDATE endpoints SET spec = spec || '{"flashboot":"OFF"}'`);
    await pass({});
    expect(await bench.workers()).toMatchObject([{ intent: 'drained', leavesAfterIdleMs: null }]);
  });

  test('gives its place to a worker that is wanted and has no other, whose endpoint says so', async () => {
    await paused({ vcpus: 2 });
    await bench.addEndpoint('e2');
    await pass({ e2: queued(1) });
    expect(await bench.workers()).toMatchObject([{ endpointId: 'e1', intent: 'drained', leavesAfterIdleMs: null }]);
    expect(JSON.stringify(await bench.decision('e2'))).toContain('workers that leave it make room');
    expect(JSON.stringify(publisher.assignmentOf('e2' as EndpointId))).toContain('workers that leave it make room');
    await report('removed');
    await pass({ e2: queued(1) });
    await pass({ e2: queued(1) });
    expect(await bench.workers()).toMatchObject([{ endpointId: 'e2', intent: 'running' }]);
  });
});

describe('a worker that fails again and again', () => {
  const fail = async (failedStarts: number): Promise<void> => {
    for (const { endpointId, hostId, id, intent } of await bench.workers()) {
      const phase = intent === 'drained' ? 'removed' : 'waiting';
      await bench.report(hostId, [observed(id, phase, { endpointId: endpointId as EndpointId, failedStarts })]);
    }
  };
  const places = async (): Promise<readonly string[]> =>
    (await bench.workers()).map(({ hostId, intent, staysBecause }) =>
      `${hostId} ${intent} ${staysBecause ?? ''}`.trim(),
    );

  test('goes to a host that can take it, within the maximum, and stays where no other is left', async () => {
    await bench.addEndpoint('e1', { workers: { ...SPEC.workers, max: 1 } });
    await bench.addHost('h1');
    await bench.addHost('h2');
    const demand = { e1: queued(1) };
    await pass(demand);
    const [first] = hostsOf(await bench.workers());
    const other = first === 'h1' ? 'h2' : 'h1';
    await fail(2);
    await pass(demand);
    expect(await places()).toEqual([`${first} running`]);
    await fail(3);
    await pass(demand);
    expect(await places()).toEqual([`${first} drained`]);
    await fail(3);
    await pass(demand);
    expect(await places()).toEqual([`${other} running`]);
    expect(await bench.workers()).toMatchObject([{ failedOn: [first] }]);
    await fail(3);
    await pass(demand);
    const why = `it has failed 3 times in a row on host ${other} and stays there: it failed on every other host as well`;
    expect(await places()).toEqual([`${other} running ${why}`]);
    expect(publisher.assignments.get('e1' as EndpointId)?.outlook?.coming[0]?.detail).toContain('stays there');
  });
});

test('more new workers than one pass makes are made by the next, which may follow at once', async () => {
  await bench.addEndpoint('e1', { workers: { ...SPEC.workers, max: 1_000 } });
  await bench.addHost('h1', { inventory: { ...INVENTORY, vcpus: 1_000, isOvercommitted: true } });
  const demand = { e1: queued(300) };
  expect(await pass(demand)).toEqual({ recheckAtMs: bench.clock.nowMs() });
  expect(await bench.workers()).toHaveLength(200);
  expect(await bench.decision('e1')).toMatchObject({ desired: 300, unplaced: 0, waiting: [] });
  expect((await pass(demand)).recheckAtMs).not.toBe(bench.clock.nowMs());
  expect(await bench.workers()).toHaveLength(300);
});

describe('limits and the history of decisions', () => {
  const decisions = async (endpointId: string) => {
    const history = new ScalingHistoryStore(new Database(bench.source));
    const page = await history.list('account' as AccountId, endpointId as EndpointId, { limit: 20 });
    return page.map(
      ({ desired, desiredBefore, outcome: { created, forgotten, unplaced, unplacedReason }, reason }) => ({
        ...{ change: `${desiredBefore} → ${desired}`, reason, created, forgotten, unplaced, unplacedReason },
      }),
    );
  };
  const limitWorkers = (workers: number) =>
    bench.source.query('UPDATE accounts SET limits = $1', [JSON.stringify({ workers })]);
  const NONE = { created: 0, forgotten: 0, unplaced: 0, unplacedReason: null };

  test('a limit parks what is beyond it, and its raise brings that in the next pass', async () => {
    await limitWorkers(1);
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(2) });
    await pass({ e1: queued(2) });
    const detail = 'The account may have 1 workers (account limit workers), and has 1';
    expect((await bench.decision('e1'))?.waiting).toMatchObject([{ reason: 'account-quota', detail, hosts: [] }]);
    expect(await bench.workers('e1')).toHaveLength(1);
    await limitWorkers(2);
    await pass({ e1: queued(2) });
    expect(await bench.workers('e1')).toHaveLength(2);
    expect((await bench.decision('e1'))?.waiting).toEqual([]);
    expect(await decisions('e1')).toEqual([
      { ...NONE, change: '2 → 2', reason: 'demand', created: 1 },
      { ...NONE, change: '2 → 2', reason: 'demand', unplaced: 1, unplacedReason: 'account-quota' },
      { ...NONE, change: '0 → 2', reason: 'from-zero', created: 1, unplaced: 1, unplacedReason: 'account-quota' },
    ]);
  });

  test('what is only repeated is not written again', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await pass({ e1: queued(1) });
    await live(3, ['h1'], { e1: queued(1) });
    expect(await decisions('e1')).toEqual([
      { ...NONE, change: '1 → 1', reason: 'demand' },
      { ...NONE, change: '0 → 1', reason: 'from-zero', created: 1 },
    ]);
  });

  test('a worker goes where the first of the volumes is, or the next', async () => {
    await bench.addHost('far', { dataCenterId: 'C', inventory: { ...INVENTORY, volumes: { storageId: 'far' } } });
    await bench.addHost('second', { dataCenterId: 'A', inventory: { ...INVENTORY, volumes: { storageId: 'second' } } });
    await bench.addHost('first', { dataCenterId: 'B', inventory: { ...INVENTORY, volumes: { storageId: 'first' } } });
    await bench.addEndpoint('e1', { networkVolumeIds: ['v2', 'v1'] });
    for (const [id, place] of [
      ['v1', 'A'],
      ['v2', 'B'],
    ]) {
      await bench.source.query(
        `INSERT INTO network_volumes (id, account_id, name, size_gb, data_center_id, type, created_at)
         VALUES ($1, 'account', 'v', 10, $2, 'STANDARD', now())`,
        [id, place],
      );
      await bench.source.query(
        `INSERT INTO endpoint_volumes (account_id, endpoint_id, volume_id) VALUES ('account', 'e1', $1)`,
        [id],
      );
    }
    await pass({ e1: queued(1) });
    expect((await bench.workers('e1')).map(({ hostId }) => hostId)).toEqual(['first']);
    await bench.change(HostEntity, 'first', { intent: 'cordoned' });
    await pass({ e1: queued(2) });
    expect((await bench.workers('e1')).map(({ hostId }) => hostId).toSorted()).toEqual(['first', 'second']);
  });
});
