import type { FieldChange } from '@berth/domain';
import type { Caller } from '@berth/http';

/** What has been done, in the past tense of the interface's own words. */
export type AuditAction =
  | 'account.created'
  | 'account.updated'
  | 'account.deleted'
  | 'api-key.created'
  | 'api-key.deleted'
  | 'cluster.created'
  | 'endpoint.created'
  | 'endpoint.updated'
  | 'endpoint.deleted'
  | 'host.invited'
  | 'host.cordoned'
  | 'host.uncordoned'
  | 'host.draining'
  | 'host.deleted'
  | 'network-volume.created'
  | 'network-volume.updated'
  | 'network-volume.deleted'
  | 'registry.created'
  | 'registry.deleted'
  | 'template.created'
  | 'template.updated'
  | 'template.deleted'
  | 'webhook-secret.rotated';

export interface AuditEntry {
  readonly caller: Caller;
  readonly action: AuditAction;
  readonly resourceId: string;
  /** As `fieldChanges` tells it: without secrets. */
  readonly diff: readonly FieldChange[];
}

/** Who changed what, and when. Only ever added to. */
export interface AuditTrail {
  /** Called inside the transaction of the change itself: neither is there without the other. */
  append(entry: AuditEntry): Promise<void>;
}
