import { In, type EntityManager } from 'typeorm';
import {
  effectiveLimits,
  type AccountId,
  type AccountLimits,
  type EndpointId,
  type EndpointSpec,
  type Fleet,
  type FleetEndpoint,
  type GoneReason,
  type PlaceableVolume,
  type ScalingRecord,
  type Worker,
  type WorkerId,
} from '@berth/domain';
import {
  AccountEntity,
  type Database,
  EndpointEntity,
  EndpointScalingEntity,
  HostEntity,
  toEndpoint,
  toHostRecord,
  toWorker,
  WorkerEntity,
} from '../persistence/index.js';
import type { LeaderTerm } from '../leadership/index.js';
import { endRunsOf } from '../usage/index.js';

/** What a worker is made of. */
export type NewWorker = Pick<
  Worker,
  'id' | 'endpointId' | 'hostId' | 'release' | 'resources' | 'createdAtMs' | 'failedOn' | 'volumeId'
> & {
  /** Where its network volume lies from now on; absent where it has none. */
  readonly storageId?: string;
};

/** A worker that is believed gone, and what that rests on. */
export interface GoneWorker {
  readonly id: WorkerId;
  readonly reason: GoneReason;
  /** Last report of its host that the judgement knew of. */
  readonly hostLastSeenAtMs: number | null;
}

/** No host keeps the log of a worker for longer. */
const LOG_DAYS_MAX = 90;
/** Of one endpoint: those that left last. */
const DEPARTED_MAX = 1_000;

/**
 * Endpoints that need a look: those named, those with workers, those that keep or wait for some, those being deleted.
 * Each arm has an index of its own, so a pass costs what is active and not what exists. They are gathered first: joined
 * to them the planner takes the arms for far longer than they are, and reads all endpoints.
 */
const LOOKED_AT = `e.id = ANY (ARRAY(
  SELECT unnest(CAST(:named AS text[]))
  UNION SELECT endpoint_id FROM workers
  UNION SELECT endpoint_id FROM endpoint_scaling WHERE desired > 0
  UNION SELECT id FROM endpoints WHERE deleted_at IS NOT NULL
  UNION SELECT id FROM endpoints WHERE (spec->'workers'->>'min')::integer > 0))`;

/** Rows behind the control loops. Endpoints of all accounts: the loops belong to the operator, not to a tenant. */
export class FleetStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param withDemand endpoints to look at whatever their rows say */
  load(withDemand: readonly EndpointId[]): Promise<Fleet> {
    return this.#database.snapshot(async (manager) => {
      const endpoints = await manager
        .createQueryBuilder(EndpointEntity, 'e')
        .where(LOOKED_AT, { named: withDemand })
        .orderBy('e.createdAt')
        .addOrderBy('e.id')
        .getMany();
      const ids = endpoints.map(({ id }) => id);
      const decisions = await lastDecisions(manager, ids);
      const volumes = await volumesOf(manager, ids);
      const accountLimits = await limitsOf(manager, [...new Set(endpoints.map(({ accountId }) => accountId))]);
      const hosts = await manager.find(HostEntity);
      const workers = await manager.find(WorkerEntity, { order: { createdAt: 'ASC', id: 'ASC' } });
      return {
        endpoints: endpoints.map((row) => ({
          ...toEndpoint(row),
          deletedAtMs: row.deletedAt?.getTime() ?? null,
          lastDecision: decisions.get(row.id) ?? null,
          ...withVolumes(row.spec, volumes.get(row.id)),
        })),
        hosts: new Map(hosts.map(toHostRecord).map((host) => [host.id, host])),
        workers: workers.map(toWorker),
        accountLimits,
      };
    });
  }

  async saveScaling(record: ScalingRecord): Promise<void> {
    const { decidedAtMs, ...rest } = record;
    await this.#database.read((manager) =>
      manager.upsert(EndpointScalingEntity, { ...rest, decidedAt: new Date(decidedAtMs) }, ['endpointId']),
    );
  }

  /**
   * Places workers, all or none, unless the term is over by what the database says: two leaders that believed in themselves
   * at once would fill one host twice. The lease is held still meanwhile, so who takes it over next sees the workers.
   * Returns whether they were placed. Their network volumes lie on the storage of their hosts from then on.
   *
   * @throws Error where a volume lies elsewhere by now, or is gone
   */
  async createWorkers(workers: readonly NewWorker[], { name, number }: LeaderTerm): Promise<boolean> {
    const place = async (manager: EntityManager): Promise<boolean> => {
      const rows = workers.map(({ createdAtMs, storageId: _, ...worker }) => ({
        ...{ failedOn: [], ...worker, createdAt: new Date(createdAtMs) },
      }));
      const placed = await manager.query<unknown[]>(
        `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, created_at, failed_on, volume_id)
         SELECT w.id, w."endpointId", w."hostId", w.release, 'running', w.resources, w."createdAt", w."failedOn", w."volumeId"
           FROM (SELECT FROM leader_leases WHERE name = $2 AND term = $3 FOR SHARE) AS held
          CROSS JOIN jsonb_to_recordset($1::jsonb) AS w(id text, "endpointId" text, "hostId" text, release integer,
                  resources jsonb, "createdAt" timestamptz, "failedOn" text[], "volumeId" text)
         RETURNING id`,
        [JSON.stringify(rows), name, number],
      );
      const bound = new Map(workers.map((worker) => [`${worker.volumeId} ${worker.storageId}`, worker]));
      if (placed.length > 0) for (const worker of bound.values()) await bindVolume(manager, worker);
      return placed.length > 0;
    };
    // Without volumes it is one statement, and a job may wait for it.
    const isOne = workers.every(({ volumeId }) => volumeId === undefined);
    return isOne ? this.#database.read(place) : this.#database.transaction(place);
  }

  /**
   * A worker that is gone already is success.
   *
   * @param leavesAfterIdleMs how long after its last job it shall leave; null: at once
   */
  async drainWorker(id: WorkerId, leavesAfterIdleMs: number | null = null): Promise<void> {
    await this.#database.read((manager) =>
      manager.update(WorkerEntity, { id }, { intent: 'drained', leavesAfterIdleMs }),
    );
  }

  /** @param pausesAfterIdleMs how long after its last job it shall be frozen; a worker that leaves goes on leaving */
  async pauseWorker(id: WorkerId, pausesAfterIdleMs: number): Promise<void> {
    await this.#database.read((manager) =>
      manager.update(
        WorkerEntity,
        { id, intent: 'running' },
        { intent: 'paused', leavesAfterIdleMs: pausesAfterIdleMs },
      ),
    );
  }

  /**
   * Takes a pause, or a drain for want of jobs, back; a worker that is gone already, or leaves for another reason, stays as
   * it is.
   */
  async resumeWorker(id: WorkerId): Promise<void> {
    await this.#database.read((manager) =>
      manager.query(
        `UPDATE workers SET intent = 'running', leaves_after_idle_ms = NULL
          WHERE id = $1 AND intent <> 'running' AND leaves_after_idle_ms IS NOT NULL`,
        [id],
      ),
    );
  }

  /** @param because null: nothing keeps it on a host where it fails */
  async noteStay(id: WorkerId, because: string | null): Promise<void> {
    await this.#database.read((manager) => manager.update(WorkerEntity, { id }, { staysBecause: because }));
  }

  /**
   * Deletes the row if it is still gone for the same reason: a report may have come since. Where it was is kept for those
   * who read its log, and its use of the host ends. Returns whether it was deleted.
   */
  async forgetWorker({ hostLastSeenAtMs, id, reason }: GoneWorker): Promise<boolean> {
    const lastSeenAt = hostLastSeenAtMs === null ? null : new Date(hostLastSeenAtMs);
    const gone = await this.#database.read((manager) =>
      manager.query<unknown[]>(
        `WITH gone AS (DELETE FROM workers w
          WHERE w.id = $1 AND CASE $2::text
            WHEN 'removed' THEN w.observed->>'phase' = 'removed'
            WHEN 'host-lost' THEN EXISTS (
              SELECT 1 FROM hosts h WHERE h.id = w.host_id AND h.last_seen_at IS NOT DISTINCT FROM $3::timestamptz)
            ELSE true END
          RETURNING w.id, w.endpoint_id, w.host_id),
         ended AS (${endRunsOf('gone')}),
         old AS (DELETE FROM departed_workers d WHERE d.worker_id = ANY (ARRAY(
           SELECT x.worker_id FROM departed_workers x WHERE x.departed_at < now() - make_interval(days => $4)
            ORDER BY x.departed_at LIMIT 100))),
         many AS (DELETE FROM departed_workers d WHERE d.worker_id = ANY (ARRAY(
           SELECT x.worker_id FROM departed_workers x
            WHERE x.endpoint_id = (SELECT w.endpoint_id FROM workers w WHERE w.id = $1)
            ORDER BY x.departed_at DESC OFFSET $5 LIMIT 100)))
         INSERT INTO departed_workers (worker_id, endpoint_id, host_id)
         SELECT id, endpoint_id, host_id FROM gone
             ON CONFLICT (worker_id) DO UPDATE SET host_id = excluded.host_id, departed_at = now()
         RETURNING worker_id`,
        [id, reason, lastSeenAt, LOG_DAYS_MAX, DEPARTED_MAX],
      ),
    );
    return gone.length > 0;
  }

  /** The last trace of an endpoint that was deleted; only once neither a worker nor the history of its jobs is left. */
  async forgetEndpoint(id: EndpointId): Promise<void> {
    await this.#database.read((manager) =>
      manager.query(
        `DELETE FROM endpoints e WHERE e.id = $1 AND e.deleted_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.endpoint_id = e.id)
            AND NOT EXISTS (SELECT 1 FROM job_history h WHERE h.endpoint_id = e.id)`,
        [id],
      ),
    );
  }
}

async function lastDecisions(
  manager: EntityManager,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, ScalingRecord>> {
  const rows = await manager.findBy(EndpointScalingEntity, { endpointId: In([...endpointIds]) });
  return new Map(
    rows.map(({ decidedAt, endpointId, ...rest }) => [
      endpointId,
      { ...rest, endpointId: endpointId as EndpointId, decidedAtMs: decidedAt.getTime() },
    ]),
  );
}

/** Of accounts for which an operator has set some; all others have the defaults. */
async function limitsOf(
  manager: EntityManager,
  accountIds: readonly string[],
): Promise<ReadonlyMap<AccountId, AccountLimits>> {
  const rows = await manager.find(AccountEntity, {
    select: { id: true, limits: true },
    where: { id: In([...accountIds]) },
  });
  const set = rows.filter(({ limits }) => Object.keys(limits).length > 0);
  return new Map(set.map(({ id, limits }) => [id as AccountId, effectiveLimits(limits)]));
}

interface VolumeRow extends PlaceableVolume {
  readonly endpointId: string;
}

/** Those of each endpoint. */
async function volumesOf(
  manager: EntityManager,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, readonly VolumeRow[]>> {
  const rows = await manager.query<VolumeRow[]>(
    `SELECT u.endpoint_id AS "endpointId", v.id, v.data_center_id AS "dataCenterId", v.storage_id AS "storageId"
       FROM endpoint_volumes u JOIN network_volumes v ON v.account_id = u.account_id AND v.id = u.volume_id
      WHERE u.endpoint_id = ANY ($1)`,
    [endpointIds],
  );
  return Map.groupBy(rows, ({ endpointId }) => endpointId);
}

/** In the endpoint's own order, which says whose turn is first. */
function withVolumes(
  { networkVolumeIds }: Pick<EndpointSpec, 'networkVolumeIds'>,
  rows: readonly VolumeRow[] = [],
): Pick<FleetEndpoint, 'volumeDataCenterIds' | 'volumes'> {
  const volumes = rows
    .toSorted((a, b) => networkVolumeIds.indexOf(a.id) - networkVolumeIds.indexOf(b.id))
    .map(({ dataCenterId, id, storageId }) => ({ id, dataCenterId, storageId }));
  const volumeDataCenterIds = [...new Set(volumes.map(({ dataCenterId }) => dataCenterId))];
  return volumes.length === 0 ? { volumeDataCenterIds } : { volumeDataCenterIds, volumes };
}

/** @throws Error where the volume lies on another storage by now */
async function bindVolume(manager: EntityManager, { storageId, volumeId }: NewWorker): Promise<void> {
  if (volumeId === undefined || storageId === undefined) return;
  const [, bound] = await manager.query<[unknown[], number]>(
    `UPDATE network_volumes SET storage_id = $2 WHERE id = $1 AND COALESCE(storage_id, $2) = $2`,
    [volumeId, storageId],
  );
  if (bound === 0) throw new Error(`network volume ${volumeId} lies on another storage than ${storageId} by now`);
}
