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

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
