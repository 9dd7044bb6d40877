import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'api_keys' })
export class ApiKeyEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ type: 'text' })
  name!: string;

  /** The part of the key that may be shown: by it a key is found. */
  @Column({ type: 'text' })
  prefix!: string;

  /** Lower-case hex SHA-256 of the whole key; the key itself is nowhere. */
  @Column({ type: 'text' })
  hash!: string;

  @Column({ type: 'text', array: true })
  scopes!: string[];

  @Column({ name: 'endpoint_ids', type: 'text', array: true, nullable: true })
  endpointIds!: string[] | null;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
