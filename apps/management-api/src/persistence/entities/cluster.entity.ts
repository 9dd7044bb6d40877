import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ClusterType } from '@berth/domain';

@Entity({ name: 'clusters' })
export class ClusterEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text' })
  type!: ClusterType;

  @Column({ name: 'gpu_type_id', type: 'text' })
  gpuTypeId!: string;

  @Column({ name: 'gpu_count_per_pod', type: 'integer' })
  gpuCountPerPod!: number;

  @Column({ name: 'pod_count', type: 'integer' })
  podCount!: number;

  /** A mere note: the template may be gone. */
  @Column({ name: 'template_id', type: 'text', nullable: true })
  templateId!: string | null;

  @Column({ name: 'network_cidr', type: 'cidr', nullable: true })
  networkCidr!: string | null;

  @Column({ name: 'vxlan_id', type: 'integer', nullable: true })
  vxlanId!: number | null;

  @Column({ name: 'vxlan_port', type: 'integer', nullable: true })
  vxlanPort!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
