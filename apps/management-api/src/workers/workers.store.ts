import type { AccountId, EndpointId, Worker } from '@berth/domain';
import type { EntityManager } from 'typeorm';
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
}

const OF_ACCOUNT = 'e.id = :endpointId AND e.accountId = :accountId';

/** Reads only, and of an endpoint of one account: workers are written by the control loops and by the reports of their hosts. */
export class WorkersStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Oldest first. A worker that its host has removed is only waiting to be forgotten, and is not there. */
  ofEndpoint(accountId: AccountId, endpointId: EndpointId): Promise<readonly PlacedWorker[]> {
    return this.#database.read(async (manager) => {
      const rows = await manager
        .createQueryBuilder(WorkerEntity, 'w')
        .innerJoin(EndpointEntity, 'e', `e.id = w.endpointId AND ${OF_ACCOUNT}`, { endpointId, accountId })
        .where(`w.observed->>'phase' IS DISTINCT FROM 'removed'`)
        .orderBy('w.createdAt')
        .addOrderBy('w.id')
        .getMany();
      if (rows.length === 0) return [];
      const hosts = await manager.find(HostEntity, { select: { id: true, dataCenterId: true } });
      const dataCenters = new Map(hosts.map(({ dataCenterId, id }) => [id, dataCenterId]));
      const images = await imagesOf(manager, rows);
      return rows.map((row) => ({
        ...toWorker(row),
        dataCenterId: dataCenters.get(row.hostId) ?? '',
        image: images.get(row.release) ?? null,
      }));
    });
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
    const { decidedAt, desired, detail, reason, waiting } = row;
    return { desired, reason, detail, waiting, decidedAtMs: decidedAt.getTime() };
  }
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
