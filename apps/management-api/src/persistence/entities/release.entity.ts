import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { StoredContainer } from '../env-seal.js';

/** The container of one release. Written once, never changed. */
@Entity({ name: 'releases' })
export class ReleaseEntity {
  @PrimaryColumn({ name: 'endpoint_id', type: 'text' })
  endpointId!: string;

  @PrimaryColumn({ type: 'integer' })
  release!: number;

  @Column({ type: 'jsonb' })
  container!: StoredContainer;

  /** `FieldChange` each: what the release changed. Empty for the first. */
  @Column({ type: 'jsonb', default: [] })
  diff!: object[];

  /** The API key that made it; null where that was not kept yet. */
  @Column({ name: 'created_by', type: 'text', nullable: true })
  createdBy!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** The digest for which its image stands: the first that a host has told. Null until then. */
  @Column({ name: 'image_digest', type: 'text', nullable: true })
  imageDigest!: string | null;
}
