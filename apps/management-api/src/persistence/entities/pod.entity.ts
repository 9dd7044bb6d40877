import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Cloud, ClusterRole, PodRuntime, PodStatus, SshAddress } from '@berth/domain';

@Entity({ name: 'pods' })
export class PodEntity {
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

  @Column({ name: 'disk_gb', type: 'integer' })
  diskGb!: number;

  @Column({ type: 'jsonb' })
  env!: Readonly<Record<string, string>>;

  @Column({ type: 'text', array: true })
  ports!: string[];

  @Column({ name: 'registry_id', type: 'text', nullable: true })
  registryId!: string | null;

  /** Either this and the count, or the CPU flavor with its two numbers. */
  @Column({ name: 'gpu_type_id', type: 'text', nullable: true })
  gpuTypeId!: string | null;

  @Column({ name: 'gpu_count', type: 'integer', nullable: true })
  gpuCount!: number | null;

  @Column({ name: 'cpu_flavor_id', type: 'text', nullable: true })
  cpuFlavorId!: string | null;

  @Column({ name: 'vcpu_count', type: 'integer', nullable: true })
  vcpuCount!: number | null;

  @Column({ name: 'memory_gb', type: 'integer', nullable: true })
  memoryGb!: number | null;

  /** Set or null together with the path. */
  @Column({ name: 'mount_gb', type: 'integer', nullable: true })
  mountGb!: number | null;

  @Column({ name: 'mount_path', type: 'text', nullable: true })
  mountPath!: string | null;

  @Column({ type: 'text' })
  cloud!: Cloud;

  @Column({ name: 'data_center_id', type: 'text', nullable: true })
  dataCenterId!: string | null;

  @Column({ name: 'cuda_version', type: 'text', nullable: true })
  cudaVersion!: string | null;

  @Column({ type: 'text' })
  status!: PodStatus;

  @Column({ type: 'text' })
  reason!: string;

  @Column({ name: 'ssh_proxy', type: 'jsonb', nullable: true })
  sshProxy!: SshAddress | null;

  @Column({ name: 'ssh_direct', type: 'jsonb', nullable: true })
  sshDirect!: SshAddress | null;

  /** A mere note: the template may be gone. */
  @Column({ name: 'template_id', type: 'text', nullable: true })
  templateId!: string | null;

  @Column({ name: 'cost_usd_per_hour', type: 'double precision' })
  costUsdPerHour!: number;

  @Column({ name: 'is_locked', type: 'boolean' })
  isLocked!: boolean;

  /** Set or null together with the name. */
  @Column({ name: 'global_ip', type: 'inet', nullable: true })
  globalIp!: string | null;

  @Column({ name: 'internal_dns', type: 'text', nullable: true })
  internalDns!: string | null;

  @Column({ type: 'jsonb', nullable: true })
  runtime!: PodRuntime | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt!: Date | null;

  /** Null: it is in no cluster, and the next three are null too. */
  @Column({ name: 'cluster_id', type: 'text', nullable: true })
  clusterId!: string | null;

  @Column({ name: 'cluster_rank', type: 'integer', nullable: true })
  clusterRank!: number | null;

  @Column({ name: 'cluster_ip', type: 'inet', nullable: true })
  clusterIp!: string | null;

  @Column({ name: 'cluster_role', type: 'text', nullable: true })
  clusterRole!: ClusterRole | null;
}

/** A network volume in a pod, both of one account. */
@Entity({ name: 'pod_volumes' })
export class PodVolumeEntity {
  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @PrimaryColumn({ name: 'pod_id', type: 'text' })
  podId!: string;

  @PrimaryColumn({ name: 'volume_id', type: 'text' })
  volumeId!: string;

  @Column({ type: 'text' })
  path!: string;
}
