import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A deed, in the past tense of the interface's own words. */
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
  | 'host.readmitted'
  | 'network-volume.created'
  | 'network-volume.updated'
  | 'network-volume.deleted'
  | 'registry.created'
  | 'registry.deleted'
  | 'template.created'
  | 'template.updated'
  | 'template.deleted'
  | 'webhook-secret.rotated'
  | 'worker.restarted';

@Entity({ name: 'audit_entries' })
export class AuditEntryEntity {
  /** Grows with each entry. Text, because it is wider than a number. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column({ type: 'timestamptz' })
  at!: Date;

  /** Of the key that did it. */
  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ name: 'api_key_id', type: 'text' })
  apiKeyId!: string;

  @Column({ type: 'text' })
  action!: AuditAction;

  @Column({ name: 'resource_id', type: 'text' })
  resourceId!: string;

  /** `FieldChange` each. */
  @Column({ type: 'jsonb' })
  diff!: object[];

  @Column({ name: 'request_id', type: 'text', nullable: true })
  requestId!: string | null;
}
