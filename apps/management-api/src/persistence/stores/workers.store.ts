import type { EntityManager } from 'typeorm';
import type { AccountId, EndpointId } from '@berth/domain';
import type { PlacedWorker, ScalingDecision, WorkerRecords } from '../../workers/worker-records.port.js';
import type { Database } from '../database.js';
import { EndpointEntity, EndpointScalingEntity, HostEntity, WorkerEntity } from '../entities/index.js';
import { toWorker } from '../rows.js';

const OF_ACCOUNT = 'e.id = :endpointId AND e.accountId = :accountId';

/** Reads only: workers are written by the control loops and by the reports of their hosts. */
export class WorkersStore implements WorkerRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

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
