import type { FieldChange } from '@berth/domain';
import type { AuditAction } from './audit-trail.port.js';

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

export interface AuditRecords {
  /** Newest first. Of every account: the trail is the operator's. */
  list(query: AuditQuery): Promise<readonly AuditRecord[]>;
}

/** Injection token of the `AuditRecords`. */
export const AUDIT_RECORDS = Symbol('AuditRecords');
