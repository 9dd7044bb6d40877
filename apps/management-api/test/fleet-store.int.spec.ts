import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { eventually, letRun } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { EndpointEntity, HostEntity } from '../src/persistence/entities/index.js';
import type { NewWorker } from '../src/reconcilers/fleet.store.js';
import type { LeaderTerm } from '../src/leadership/leader-lease.js';
import { observed, SPEC, useFleetBench } from './fleet-bench.js';

const bench = useFleetBench();

const E1 = 'e1' as EndpointId;
const W1 = 'w1' as WorkerId;
const RESOURCES = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };

const newWorker = (id = 'w1', more: Partial<NewWorker> = {}): NewWorker => ({
  id: id as WorkerId,
  endpointId: E1,
  hostId: 'h1' as HostId,
  release: 1,
  resources: RESOURCES,
  createdAtMs: bench.clock.nowMs(),
  ...more,
});

/** An endpoint, a host, and the term under which workers are placed. */
async function prepare(): Promise<LeaderTerm> {
  await bench.addEndpoint('e1');
  await bench.addHost('h1');
  return (await bench.leaderLease()).currentTerm();
}

const scalingRecord = (desired: number) => ({
  endpointId: E1,
  desired,
  reason: 'demand',
  detail: '1 queued',
  waiting: [],
  unplaced: 0,
  starts: null,
  decidedAtMs: bench.clock.nowMs(),
});

describe('what a pass loads', () => {
  const loadedIds = async (named: readonly string[] = []): Promise<readonly string[]> => {
    const { endpoints } = await bench.store.load(named as readonly EndpointId[]);
    return endpoints.map(({ id }) => id).toSorted();
  };

  test('leaves out endpoints at rest, and has those that are named, which may not exist', async () => {
    await bench.addEndpoint('e1');
    await bench.addEndpoint('e2');
    expect(await loadedIds()).toEqual([]);
    expect(await loadedIds(['e2', 'unknown'])).toEqual(['e2']);
  });

  test('has endpoints that keep a minimum, have workers, wait for workers, or are being deleted', async () => {
    const term = await prepare();
    await bench.addEndpoint('minimum', { workers: { ...SPEC.workers, min: 1 } });
    await bench.addEndpoint('deleted', {}, { deletedAt: new Date(0) });
    await bench.addEndpoint('waiting');
    await bench.addEndpoint('rest');
    await bench.store.createWorkers([newWorker()], term);
    await bench.store.saveScaling({ ...scalingRecord(1), endpointId: 'waiting' as EndpointId });
    await bench.store.saveScaling({ ...scalingRecord(0), endpointId: 'rest' as EndpointId });
    expect(await loadedIds()).toEqual(['deleted', 'e1', 'minimum', 'waiting']);
  });

  test('comes with hosts, workers and the last decision, as they were written', async () => {
    const term = await prepare();
    const worker = newWorker();
    await bench.store.createWorkers([worker], term);
    const waiting = [{ reason: 'vcpu', detail: 'full', since: '2026-01-01T00:00:00.000Z', hosts: [] }];
    await bench.store.saveScaling({ ...scalingRecord(2), waiting });
    const fleet = await bench.store.load([]);
    expect(fleet.workers).toEqual([{ ...worker, intent: 'running', observed: null }]);
    expect(fleet.hosts.get('h1' as HostId)).toMatchObject({ intent: 'ready', lastSeenAtMs: bench.clock.nowMs() });
    expect(fleet.endpoints).toMatchObject([
      { id: 'e1', spec: SPEC, release: 1, deletedAtMs: null, lastDecision: { ...scalingRecord(2), waiting } },
    ]);
  });

  test('is of one instant: what is written meanwhile is seen whole or not at all', async () => {
    const term = await prepare();
    const loads = Array.from({ length: 20 }, () => bench.store.load([E1]));
    const [fleets] = await Promise.all([
      Promise.all(loads),
      bench.source.transaction(async (manager) => {
        await manager.query(`INSERT INTO hosts (id, name, data_center_id) VALUES ('h2', 'h2', 'dc')`);
        await letRun();
        await manager.query(
          `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources)
           VALUES ('w2', 'e1', 'h2', 1, 'running', $1)`,
          [RESOURCES],
        );
      }),
      bench.store.createWorkers([newWorker()], term),
    ]);
    for (const { hosts, workers } of fleets) {
      expect(workers.every(({ hostId }) => hosts.has(hostId))).toBe(true);
      expect(hosts.size).toBe(workers.some(({ id }) => id === ('w2' as WorkerId)) ? 2 : 1);
    }
  });
});

describe('placing a worker', () => {
  test('is refused under a term that is over by the database, whatever its holder believes', async () => {
    const term = await prepare();
    await bench.source.query(`UPDATE leader_leases SET holder = 'other', term = term + 1`);
    expect(term.isOver()).toBe(false);
    expect(await bench.store.createWorkers([newWorker()], term)).toBe(false);
    expect(await bench.workers()).toEqual([]);
  });

  test('keeps the next leader waiting until the worker is there to be seen', async () => {
    const term = await prepare();
    const placing = bench.source.createQueryRunner();
    await placing.startTransaction();
    await placing.query('SELECT 1 FROM leader_leases WHERE term = $1 FOR SHARE', [term.number]);
    await bench.source.query('SELECT 1');
    let isTaken = false;
    const takeover = bench.source.query(`UPDATE leader_leases SET term = term + 1`).then(() => (isTaken = true));
    await bench.source.query('SELECT pg_sleep(0.05)');
    expect(isTaken).toBe(false);
    await placing.commitTransaction();
    await placing.release();
    await takeover;
    expect(await bench.store.createWorkers([newWorker()], term)).toBe(false);
  });

  test('fails on a host that was removed, and for an endpoint that is gone', async () => {
    const term = await prepare();
    await expect(bench.store.createWorkers([newWorker('w', { hostId: 'h2' as HostId })], term)).rejects.toThrow();
    await expect(
      bench.store.createWorkers([newWorker('w', { endpointId: 'e2' as EndpointId })], term),
    ).rejects.toThrow();
  });
});

describe('a worker that leaves', () => {
  test('stays drained, whatever its host reports', async () => {
    const term = await prepare();
    await bench.store.createWorkers([newWorker()], term);
    await bench.store.drainWorker(W1);
    await bench.report('h1', [observed('w1', 'idle')]);
    await bench.store.drainWorker(W1);
    expect(await bench.workers()).toMatchObject([{ intent: 'drained', observed: { phase: 'idle' } }]);
    await bench.store.drainWorker('unknown' as WorkerId);
  });

  test('is forgotten as removed only while its host says so', async () => {
    const term = await prepare();
    await bench.store.createWorkers([newWorker()], term);
    const gone = { id: W1, reason: 'removed', hostLastSeenAtMs: bench.clock.nowMs() } as const;
    expect(await bench.store.forgetWorker(gone)).toBe(false);
    await bench.report('h1', [observed('w1', 'removed')]);
    expect(await bench.store.forgetWorker(gone)).toBe(true);
    expect(await bench.store.forgetWorker(gone)).toBe(false);
    expect(await bench.workers()).toEqual([]);
  });

  test('is forgotten with its lost host only while that host has not been heard again', async () => {
    const term = await prepare();
    await bench.store.createWorkers([newWorker()], term);
    const gone = { id: W1, reason: 'host-lost', hostLastSeenAtMs: bench.clock.nowMs() } as const;
    await bench.clock.advance(40_000);
    await bench.report('h1');
    expect(await bench.store.forgetWorker(gone)).toBe(false);
    expect(await bench.store.forgetWorker({ ...gone, hostLastSeenAtMs: bench.clock.nowMs() })).toBe(true);
  });

  test('goes with a host that is removed', async () => {
    const term = await prepare();
    await bench.store.createWorkers([newWorker()], term);
    await bench.source.getRepository(HostEntity).delete({ id: 'h1' });
    expect(await bench.workers()).toEqual([]);
    expect(await bench.store.forgetWorker({ id: W1, reason: 'host-removed', hostLastSeenAtMs: null })).toBe(false);
  });
});

test('an endpoint is forgotten only when it was deleted and has no worker left, with its last decision', async () => {
  const term = await prepare();
  const isThere = (): Promise<boolean> => bench.source.getRepository(EndpointEntity).existsBy({ id: 'e1' });
  await bench.store.saveScaling(scalingRecord(0));
  await bench.store.createWorkers([newWorker()], term);
  await bench.store.forgetEndpoint(E1);
  expect(await isThere()).toBe(true);
  await bench.change(EndpointEntity, 'e1', { deletedAt: new Date(0) });
  await bench.store.forgetEndpoint(E1);
  expect(await isThere()).toBe(true);
  await bench.report('h1', [observed('w1', 'removed')]);
  await bench.store.forgetWorker({ id: W1, reason: 'removed', hostLastSeenAtMs: null });
  await bench.store.forgetEndpoint(E1);
  expect(await isThere()).toBe(false);
  expect(await bench.decision('e1')).toBeNull();
});

test('a decision replaces the one before', async () => {
  await prepare();
  await bench.store.saveScaling(scalingRecord(1));
  await bench.store.saveScaling({ ...scalingRecord(3), reason: 'pace' });
  expect(await bench.decision('e1')).toMatchObject({ desired: 3, reason: 'pace' });
});

test('workers that wait for one reason are kept as one entry, and are as many as before when they are read', async () => {
  await prepare();
  const hosts = Array.from({ length: 50 }, (_, at) => ({
    id: `h${at}`,
    reason: 'the worker needs 4 vCPU, 2 are free',
  }));
  const vcpu = { reason: 'vcpu', detail: 'full', since: '2026-01-01T00:00:00.000Z', hosts };
  const waiting = [...Array.from({ length: 50 }, () => vcpu), { ...vcpu, reason: 'memory' }];
  await bench.store.saveScaling({ ...scalingRecord(60), waiting });
  expect((await bench.store.load([E1])).endpoints[0]?.lastDecision?.waiting).toEqual(waiting);
  const [row] = await bench.source.query<{ length: number }[]>('SELECT length(waiting::text) FROM endpoint_scaling');
  expect(row?.length).toBeLessThan(3 * JSON.stringify(vcpu).length);
});

test('a database that is away is told as an outage that passes', async () => {
  await prepare();
  await bench.postgres.restart('kill');
  await bench.store.load([]).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'service-unavailable' });
  });
  await eventually(async () => {
    expect((await bench.store.load([E1])).endpoints).toHaveLength(1);
  });
});
