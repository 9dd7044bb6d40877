import { Column, Entity, PrimaryColumn } from 'typeorm';

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
