import { LessThan } from 'typeorm';
import type { FieldChange } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { currentLogContext } from '@berth/telemetry';
import type { AuditQuery, AuditRecord, AuditRecords } from '../../audit/audit-records.port.js';
import type { AuditEntry, AuditTrail } from '../../audit/audit-trail.port.js';
import type { ChangeSeal } from '../change-seal.js';
import type { Database } from '../database.js';
import { AuditEntryEntity } from '../entities/index.js';

export class AuditStore implements AuditTrail, AuditRecords {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #changes: ChangeSeal;

  constructor(database: Database, clock: Clock, changes: ChangeSeal) {
    this.#database = database;
    this.#clock = clock;
    this.#changes = changes;
  }

  async append({ action, caller, diff, resourceId }: AuditEntry): Promise<void> {
    const at = new Date(this.#clock.nowMs());
    const requestId = currentLogContext().requestId ?? null;
    const { accountId, keyId: apiKeyId } = caller;
    const sealed = this.#changes.seal(diff, { accountId, resourceId });
    await this.#database.transaction((manager) =>
      manager.insert(AuditEntryEntity, { at, accountId, apiKeyId, action, resourceId, diff: sealed, requestId }),
    );
  }

  async list({ accountId, beforeId, limit, resourceId }: AuditQuery): Promise<readonly AuditRecord[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(AuditEntryEntity, {
        where: {
          ...(accountId === undefined ? {} : { accountId }),
          ...(resourceId === undefined ? {} : { resourceId }),
          ...(beforeId === undefined ? {} : { id: LessThan(beforeId) }),
        },
        order: { id: 'DESC' },
        take: limit,
      }),
    );
    return rows.map(({ at, diff, ...row }) => ({
      ...row,
      diff: this.#changes.open(diff as FieldChange[], row),
      atMs: at.getTime(),
    }));
  }
}
