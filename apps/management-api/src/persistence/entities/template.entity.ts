import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TemplateCategory, TemplateSource } from '@berth/domain';
import type { StoredEnv } from '../env-seal.js';

@Entity({ name: 'templates' })
export class TemplateEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text' })
  image!: string;

  @Column({ type: 'text' })
  args!: string;

  @Column({ name: 'disk_gb', type: 'integer', nullable: true })
  diskGb!: number | null;

  @Column({ type: 'jsonb' })
  env!: StoredEnv;

  @Column({ type: 'text', array: true })
  ports!: string[];

  @Column({ name: 'registry_id', type: 'text', nullable: true })
  registryId!: string | null;

  /** Set or null together with the path. */
  @Column({ name: 'mount_gb', type: 'integer', nullable: true })
  mountGb!: number | null;

  @Column({ name: 'mount_path', type: 'text', nullable: true })
  mountPath!: string | null;

  @Column({ name: 'is_serverless', type: 'boolean' })
  isServerless!: boolean;

  @Column({ name: 'is_public', type: 'boolean' })
  isPublic!: boolean;

  @Column({ type: 'text' })
  source!: TemplateSource;

  @Column({ type: 'text' })
  category!: TemplateCategory;

  @Column({ name: 'starts_ssh', type: 'boolean' })
  startsSsh!: boolean;

  @Column({ name: 'starts_jupyter', type: 'boolean' })
  startsJupyter!: boolean;

  @Column({ name: 'allowed_cuda_versions', type: 'text', array: true })
  allowedCudaVersions!: string[];

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
