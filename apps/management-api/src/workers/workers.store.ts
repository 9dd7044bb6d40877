import type { AccountId, EndpointId, ReleaseStarts, Worker, WorkerId } from '@berth/domain';
import type { EntityManager, SelectQueryBuilder } from 'typeorm';
import {
  type Database,
  EndpointEntity,
  EndpointScalingEntity,
  HostEntity,
  toWorker,
  WorkerEntity,
} from '../persistence/index.js';

/** A worker with what is shown beside it. */
export interface PlacedWorker extends Worker {
  readonly dataCenterId: string;
  /** Of the worker's own release; null where that is not known any more. */
  readonly image: string | null;
}

/** A worker that is wanted and could not be placed. */
interface WaitingWorker {
  readonly reason: string;
  readonly detail: string;
  /** ISO 8601. */
  readonly since: string;
  readonly hosts: readonly { readonly id: string; readonly reason: string }[];
}

/** The last decision of the scaling loop. */
export interface ScalingDecision {
  readonly desired: number;
  readonly reason: string;
  readonly detail: string;
  readonly decidedAtMs: number;
  readonly waiting: readonly WaitingWorker[];
  /** How many workers are wanted and have no place: `waiting` has the first of them. */
  readonly unplaced: number;
  /** How the workers of the latest release start; null: nothing is known yet. */
  readonly starts: ReleaseStarts | null;
}

const OF_ACCOUNT = 'e.id = :endpointId AND e.accountId = :accountId';

/**
 * Of an endpoint of one account. Workers are written by the control loops and by the reports of their hosts; all that is
 * written here is that somebody asked for a restart.
 */
export class WorkersStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Oldest first. A worker that its host has removed is only waiting to be forgotten, and is not there. */
  ofEndpoint(accountId: AccountId, endpointId: EndpointId): Promise<readonly PlacedWorker[]> {
    return this.#database.read((manager) => placed(manager, workersOf(manager, accountId, endpointId)));
  }

  /** Null where the endpoint has no such worker. */
  async find(accountId: AccountId, endpointId: EndpointId, id: WorkerId): Promise<PlacedWorker | null> {
    const [worker] = await this.#database.read((manager) =>
      placed(manager, workersOf(manager, accountId, endpointId).andWhere('w.id = :id', { id })),
    );
    return worker ?? null;
  }

  /** Null before the loop has looked at the endpoint. */
  async scalingOf(accountId: AccountId, endpointId: EndpointId): Promise<ScalingDecision | null> {
    const row = await this.#database.read((manager) =>
      manager
        .createQueryBuilder(EndpointScalingEntity, 's')
        .innerJoin(EndpointEntity, 'e', `e.id = s.endpointId AND ${OF_ACCOUNT}`, { endpointId, accountId })
        .getOne(),
    );
    if (row === null) return null;
    const { decidedAt, desired, detail, reason, starts, unplaced, waiting } = row;
    return { desired, reason, detail, waiting, unplaced, starts, decidedAtMs: decidedAt.getTime() };
  }

  /** Its agent replaces what runs of it. Returns whether the endpoint has the worker. */
  async restart(accountId: AccountId, endpointId: EndpointId, id: WorkerId): Promise<boolean> {
    const [, count] = await this.#database.transaction((manager) =>
      manager.query<[unknown[], number]>(
        `UPDATE workers w SET restarts = restarts + 1 FROM endpoints e
          WHERE w.id = $3 AND w.endpoint_id = e.id AND e.id = $2 AND e.account_id = $1
            AND w.observed->>'phase' IS DISTINCT FROM 'removed'`,
        [accountId, endpointId, id],
      ),
    );
    return count > 0;
  }
}

const workersOf = (
  manager: EntityManager,
  accountId: AccountId,
  endpointId: EndpointId,
): SelectQueryBuilder<WorkerEntity> =>
  manager
    .createQueryBuilder(WorkerEntity, 'w')
    .innerJoin(EndpointEntity, 'e', `e.id = w.endpointId AND ${OF_ACCOUNT}`, { endpointId, accountId })
    .where(`w.observed->>'phase' IS DISTINCT FROM 'removed'`)
    .orderBy('w.createdAt')
    .addOrderBy('w.id');

async function placed(
  manager: EntityManager,
  query: SelectQueryBuilder<WorkerEntity>,
): Promise<readonly PlacedWorker[]> {
  const rows = await query.getMany();
  if (rows.length === 0) return [];
  const hosts = await manager.find(HostEntity, { select: { id: true, dataCenterId: true } });
  const dataCenters = new Map(hosts.map(({ dataCenterId, id }) => [id, dataCenterId]));
  const images = await imagesOf(manager, rows);
  return rows.map((row) => ({
    ...toWorker(row),
    dataCenterId: dataCenters.get(row.hostId) ?? '',
    image: images.get(row.release) ?? null,
  }));
}

/** Of the workers' own releases: an endpoint may have had very many. */
async function imagesOf(manager: EntityManager, rows: readonly WorkerEntity[]): Promise<ReadonlyMap<number, string>> {
  const releases = [...new Set(rows.map(({ release }) => release))];
  const images = await manager.query<{ release: number; image: string }[]>(
    `SELECT release, container->>'image' AS image FROM releases WHERE endpoint_id = $1 AND release = ANY ($2)`,
    [rows[0]?.endpointId, releases],
  );
  return new Map(images.map(({ image, release }) => [release, image]));
}
