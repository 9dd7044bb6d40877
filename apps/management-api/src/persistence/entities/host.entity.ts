import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { HostIntent, Inventory } from '@berth/domain';

@Entity({ name: 'hosts' })
export class HostEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'data_center_id', type: 'text' })
  dataCenterId!: string;

  @Column({ type: 'jsonb' })
  labels!: Record<string, string>;

  @Column({ type: 'text' })
  intent!: HostIntent;

  /** Lower-case hex SHA-256 of the secret that the agent made; null until it has joined. */
  @Column({ name: 'secret_hash', type: 'text', nullable: true })
  secretHash!: string | null;

  @Column({ type: 'jsonb', nullable: true })
  inventory!: Inventory | null;

  @Column({ name: 'instance_id', type: 'text', nullable: true })
  instanceId!: string | null;

  @Column({ name: 'report_sequence', type: 'integer' })
  reportSequence!: number;

  @Column({ name: 'last_seen_at', type: 'timestamptz', nullable: true })
  lastSeenAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}

/** Lets one host join, once. */
@Entity({ name: 'join_tokens' })
export class JoinTokenEntity {
  @PrimaryColumn({ name: 'host_id', type: 'text' })
  hostId!: string;

  /** Lower-case hex SHA-256 of the whole token. */
  @Column({ type: 'text' })
  hash!: string;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;

  @Column({ name: 'used_at', type: 'timestamptz', nullable: true })
  usedAt!: Date | null;
}
