import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { StoredEndpointSpec } from '../env-seal.js';

@Entity({ name: 'endpoints' })
export class EndpointEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ type: 'jsonb' })
  spec!: StoredEndpointSpec;

  /** Ordinal of the latest release, from 1. */
  @Column({ type: 'integer' })
  release!: number;

  /** Counts changes of every kind, from 1. */
  @Column({ type: 'integer', default: 1 })
  version!: number;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** Set at once by a delete; the row goes when nothing of the endpoint is left anywhere. */
  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt!: Date | null;
}
