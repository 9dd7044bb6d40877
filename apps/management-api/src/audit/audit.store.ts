import type { FieldChange } from '@berth/domain';
import { type AuditAction, AuditEntryEntity, type ChangeSeal, type Database } from '../persistence/index.js';
import type { Caller } from '@berth/http';
import { LessThan } from 'typeorm';
import type { Clock } from '@berth/lifecycle';
import { currentLogContext } from '@berth/telemetry';

export interface AuditEntry {
  readonly caller: Caller;
  readonly action: AuditAction;
  readonly resourceId: string;
  /** As `fieldChanges` tells it: without secrets. */
  readonly diff: readonly FieldChange[];
}

/** An entry as it was kept. */
export interface AuditRecord {
  /** Decimal; grows with each entry. */
  readonly id: string;
  readonly atMs: number;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly action: AuditAction;
  readonly resourceId: string;
  readonly diff: readonly FieldChange[];
  readonly requestId: string | null;
}

export interface AuditQuery {
  readonly accountId?: string;
  readonly resourceId?: string;
  /** Only entries older than the one with this id. */
  readonly beforeId?: string;
  readonly limit: number;
}

/** The record of changes, with their authors and instants. Only ever added to. */
export class AuditStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #changes: ChangeSeal;

  constructor(database: Database, clock: Clock, changes: ChangeSeal) {
    this.#database = database;
    this.#clock = clock;
    this.#changes = changes;
  }

  /** Called inside the transaction of the change itself: neither is there without the other. */
  async append({ action, caller, diff, resourceId }: AuditEntry): Promise<void> {
    const at = new Date(this.#clock.nowMs());
    const requestId = currentLogContext().requestId ?? null;
    const { accountId, keyId: apiKeyId } = caller;
    const sealed = this.#changes.seal(diff, { accountId, resourceId });
    await this.#database.transaction((manager) =>
      manager.insert(AuditEntryEntity, { at, accountId, apiKeyId, action, resourceId, diff: sealed, requestId }),
    );
  }

  /** Newest first. Of every account: the trail is the operator's. */
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
