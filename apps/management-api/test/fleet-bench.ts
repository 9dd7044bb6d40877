import type { DemandMessage } from '@berth/contracts';
import type {
  Demand,
  EndpointId,
  EndpointSpec,
  HostId,
  HostIntent,
  Inventory,
  ObservedWorker,
  WorkerId,
  WorkerPhase,
} from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { LOG_SHARDS } from '@berth/messaging';
import { ManualClock } from '@berth/testing';
import { usePostgres, type PostgresFixture } from '@berth/testing/servers';
import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { createDataSource } from '../src/persistence/data-source.js';
import { Database } from '../src/persistence/database.js';
import {
  AccountEntity,
  EndpointEntity,
  EndpointScalingEntity,
  HostEntity,
  JoinTokenEntity,
  WorkerEntity,
} from '../src/persistence/entities/index.js';
import { migrate } from '../src/persistence/migrate.js';
import { FleetStore } from '../src/reconcilers/fleet.store.js';
import { HostSessionsStore } from '../src/host-sessions/host-sessions.store.js';
import { DeletedVolumesStore } from '../src/network-volumes/deleted-volumes.store.js';
import { LeaderLease } from '../src/leadership/leader-lease.js';

const ACCOUNT = 'account';
export const GIB = 2 ** 30;
const START_TIMEOUT_MS = 240_000;

export const SPEC: EndpointSpec = {
  name: 'echo',
  type: 'QUEUE',
  container: { image: 'local/echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
  workers: { min: 0, max: 3, idleTimeoutSeconds: null },
  gpu: null,
  cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }],
  dataCenterIds: [],
  networkVolumeIds: [],
  flashboot: 'OFF',
  executionTimeoutMs: 300_000,
};

export const INVENTORY: Inventory = {
  vcpus: 8,
  isOvercommitted: false,
  memoryBytes: 64 * GIB,
  diskBytes: 500 * GIB,
  gpus: [],
  areGpusSimulated: false,
  cudaVersion: null,
  runtime: 'process',
  images: [],
};

const QUIET: Demand = {
  queuedNormal: 0,
  queuedLow: 0,
  running: 0,
  runningLow: 0,
  oldestQueuedAtMs: null,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
};

/** A whole message of one that owns every shard: who is not named has no demand. */
export const demandMessage = (
  nowMs: number,
  endpoints: Readonly<Record<string, Partial<Demand>>>,
  routerId = 'router',
): DemandMessage => ({
  routerId,
  sentAtMs: nowMs,
  shards: Array.from({ length: LOG_SHARDS }, (_, shard) => ({ shard, term: 1, part: { index: 0, count: 1 } })),
  endpoints: Object.entries(endpoints).map(([id, demand]) => ({ ...QUIET, ...demand, endpointId: id as EndpointId })),
  unknown: [],
});

export const observed = (workerId: string, phase: WorkerPhase, more: Partial<ObservedWorker> = {}): ObservedWorker => ({
  workerId: workerId as WorkerId,
  endpointId: 'e1' as EndpointId,
  release: 1,
  phase,
  reason: '',
  runningJobs: phase === 'busy' ? 1 : 0,
  failedStarts: 0,
  phaseSinceMs: 0,
  startedAtMs: null,
  gpuTypeId: null,
  ...more,
});

/** A migrated database of its own for every test, with one account in it, and a clock that the test turns. */
export class FleetBench {
  readonly postgres: PostgresFixture;
  #template = '';
  #url = '';
  #source: DataSource | undefined;
  #clock = new ManualClock();
  readonly #sequences = new Map<string, number>();

  constructor(postgres: PostgresFixture) {
    this.postgres = postgres;
  }

  get url(): string {
    return this.#url;
  }

  get source(): DataSource {
    if (this.#source === undefined) throw new Error('The database is made in beforeEach.');
    return this.#source;
  }

  get clock(): ManualClock {
    return this.#clock;
  }

  get store(): FleetStore {
    return new FleetStore(new Database(this.source));
  }

  get sessions(): HostSessionsStore {
    return new HostSessionsStore(new Database(this.source));
  }

  get deletedVolumes(): DeletedVolumesStore {
    return new DeletedVolumesStore(new Database(this.source));
  }

  async openTemplate(): Promise<void> {
    const url = await this.postgres.freshDatabase();
    this.#template = decodeURIComponent(new URL(url).pathname.slice(1));
    const source = await this.connect(url);
    await migrate(source);
    await source.getRepository(AccountEntity).insert({ id: ACCOUNT, name: ACCOUNT, createdAt: new Date(0) });
    await source.destroy();
  }

  async open(): Promise<void> {
    // The broker compares what is signed here with its own clock.
    this.#clock = new ManualClock(systemClock.nowMs());
    this.#sequences.clear();
    this.#url = await this.postgres.freshDatabase({ template: this.#template });
    this.#source = await this.connect(this.#url);
  }

  async close(): Promise<void> {
    await this.#source?.destroy();
  }

  async connect(url = this.#url): Promise<DataSource> {
    return createDataSource({ url, applicationName: 'test', poolMax: 5 }).initialize();
  }

  /** A lease that is held; other tests of leadership make their own. */
  async leaderLease(holder = 'leader', leaseMs = 60_000): Promise<LeaderLease> {
    const lease = new LeaderLease(this.source, { name: 'controllers', holder, leaseMs, clock: this.clock });
    await lease.acquire();
    return lease;
  }

  async addEndpoint(id: string, spec: Partial<EndpointSpec> = {}, row: Partial<EndpointEntity> = {}): Promise<void> {
    const whole = { id, accountId: ACCOUNT, spec: { ...SPEC, ...spec }, release: 1, deletedAt: null, ...row };
    await this.source.transaction(async (manager) => {
      await manager.insert(EndpointEntity, { createdAt: this.#now(), ...whole });
      await addReleases(manager, id);
    });
  }

  /** A host that has joined and was heard just now. */
  async addHost(id: string, row: Partial<HostEntity> = {}): Promise<void> {
    await this.source.getRepository(HostEntity).insert({
      id,
      name: id,
      dataCenterId: 'local',
      labels: {},
      intent: 'ready' satisfies HostIntent,
      secretHash: null,
      inventory: INVENTORY,
      instanceId: null,
      reportSequence: 0,
      lastSeenAt: this.#now(),
      createdAt: this.#now(),
      ...row,
    });
  }

  async addJoinToken(hostId: string, hash: string, expiresAtMs: number): Promise<void> {
    const row = { hostId, hash, expiresAt: new Date(expiresAtMs), usedAt: null };
    await this.source.getRepository(JoinTokenEntity).insert(row);
  }

  /** The next report of a host. */
  async report(hostId: string, workers: readonly ObservedWorker[] = [], inventory = INVENTORY): Promise<string> {
    const sequence = (this.#sequences.get(hostId) ?? 0) + 1;
    this.#sequences.set(hostId, sequence);
    return this.sessions.record({
      hostId: hostId as HostId,
      instanceId: 'instance',
      sequence,
      inventory,
      workers,
      receivedAtMs: this.clock.nowMs(),
    });
  }

  workers(endpointId?: string): Promise<WorkerEntity[]> {
    const where = endpointId === undefined ? {} : { endpointId };
    return this.source.getRepository(WorkerEntity).find({ where, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  decision(endpointId: string): Promise<EndpointScalingEntity | null> {
    return this.source.getRepository(EndpointScalingEntity).findOneBy({ endpointId });
  }

  async change<Row extends EndpointEntity | HostEntity>(
    entity: new () => Row,
    id: string,
    change: Partial<Row>,
  ): Promise<void> {
    await this.source.transaction(async (manager) => {
      await manager.getRepository<EndpointEntity | HostEntity>(entity).update({ id }, change);
      await addReleases(manager, id);
    });
  }

  #now(): Date {
    return new Date(this.clock.nowMs());
  }
}

/** Those that the endpoint should have by its row. */
async function addReleases(manager: EntityManager, endpointId: string): Promise<void> {
  await manager.query(
    `INSERT INTO releases (endpoint_id, release, container)
     SELECT id, generate_series(1, release), spec->'container' FROM endpoints WHERE id = $1 ON CONFLICT DO NOTHING`,
    [endpointId],
  );
}

/** Call once at the top of a spec. */
export function useFleetBench(): FleetBench {
  const bench = new FleetBench(usePostgres());
  beforeAll(() => bench.openTemplate(), START_TIMEOUT_MS);
  beforeEach(() => bench.open());
  afterEach(() => bench.close());
  return bench;
}
