import { Column, Entity, PrimaryColumn } from 'typeorm';

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
