import { LessThan } from 'typeorm';
import type { FieldChange } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { currentLogContext } from '@berth/telemetry';
import type { AuditQuery, AuditRecord, AuditRecords } from '../../audit/audit-records.port.js';
import type { AuditEntry, AuditTrail } from '../../audit/audit-trail.port.js';
import type { Database } from '../database.js';
import { AuditEntryEntity } from '../entities/index.js';

export class AuditStore implements AuditTrail, AuditRecords {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async append({ action, caller, diff, resourceId }: AuditEntry): Promise<void> {
    const at = new Date(this.#clock.nowMs());
    const requestId = currentLogContext().requestId ?? null;
    const { accountId, keyId: apiKeyId } = caller;
    await this.#database.transaction((manager) =>
      manager.insert(AuditEntryEntity, { at, accountId, apiKeyId, action, resourceId, diff: [...diff], requestId }),
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
    return rows.map(({ at, diff, ...row }) => ({ ...row, diff: diff as FieldChange[], atMs: at.getTime() }));
  }
}
