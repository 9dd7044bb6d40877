import type { WorkerId } from '@berth/domain';
import type { Logger } from '@berth/telemetry';
import type { WorkerRecords } from '../journal/index.js';
import { parseRecord } from './worker-record.js';

/** One life of a worker that is about to end by its host's doing. */
interface RemovedLife {
  readonly workerId: WorkerId;
  readonly containerId: string;
}

interface Removal {
  readonly reason: string;
  readonly logger: Logger;
}

/**
 * Writes down that these containers go by no fault of their own, so that an agent that finds them gone charges none of their
 * jobs. A record that cannot be written costs its jobs an attempt, and keeps no container running.
 */
export async function noteRemoved(
  records: WorkerRecords,
  removed: readonly RemovedLife[],
  { reason, logger }: Removal,
): Promise<void> {
  const known = records.list();
  for (const { workerId, containerId } of removed) {
    const record = parseRecord(known.get(workerId));
    const life = record?.life ?? null;
    if (life === null || (life.containerId !== null && life.containerId !== containerId)) continue;
    try {
      await records.put(workerId, { ...record, life: { ...life, killReason: life.killReason ?? reason } });
    } catch (error) {
      logger.error('why a worker is removed could not be kept; its jobs are charged', { workerId, error });
    }
  }
}
