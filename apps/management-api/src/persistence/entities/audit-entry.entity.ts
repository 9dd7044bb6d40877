import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { AuditAction } from '../../audit/audit-trail.port.js';

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
