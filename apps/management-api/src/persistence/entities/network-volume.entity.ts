import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NetworkVolumeType } from '@berth/domain';

@Entity({ name: 'network_volumes' })
export class NetworkVolumeEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'size_gb', type: 'integer' })
  sizeGb!: number;

  @Column({ name: 'data_center_id', type: 'text' })
  dataCenterId!: string;

  @Column({ type: 'text' })
  type!: NetworkVolumeType;

  /** The storage that has its data; null as long as no worker has had it. Written by the control loops only. */
  @Column({ name: 'storage_id', type: 'text', nullable: true })
  storageId!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
