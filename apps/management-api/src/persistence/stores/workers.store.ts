import type { EndpointId } from '@berth/domain';
import type { PlacedWorker, ScalingDecision, WorkerRecords } from '../../workers/worker-records.port.js';
import type { Database } from '../database.js';
import { EndpointScalingEntity, HostEntity, ReleaseEntity, WorkerEntity } from '../entities/index.js';
import { toWorker } from '../rows.js';

/** Reads only: workers are written by the control loops and by the reports of their hosts. */
export class WorkersStore implements WorkerRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  ofEndpoint(endpointId: EndpointId): Promise<readonly PlacedWorker[]> {
    return this.#database.read(async (manager) => {
      const rows = await manager.find(WorkerEntity, { where: { endpointId }, order: { createdAt: 'ASC', id: 'ASC' } });
      if (rows.length === 0) return [];
      const [hosts, releases] = await Promise.all([
        manager.find(HostEntity, { select: { id: true, dataCenterId: true } }),
        manager.findBy(ReleaseEntity, { endpointId }),
      ]);
      const dataCenters = new Map(hosts.map(({ dataCenterId, id }) => [id, dataCenterId]));
      const images = new Map(releases.map(({ container, release }) => [release, container.image]));
      return rows.map((row) => ({
        ...toWorker(row),
        dataCenterId: dataCenters.get(row.hostId) ?? '',
        image: images.get(row.release) ?? null,
      }));
    });
  }

  async scalingOf(endpointId: EndpointId): Promise<ScalingDecision | null> {
    const row = await this.#database.read((manager) => manager.findOneBy(EndpointScalingEntity, { endpointId }));
    if (row === null) return null;
    const { decidedAt, desired, detail, reason, waiting } = row;
    return { desired, reason, detail, waiting, decidedAtMs: decidedAt.getTime() };
  }
}
