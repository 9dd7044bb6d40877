import type { ReleaseStarts, WaitingWorker } from '@berth/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'endpoint_scaling' })
export class EndpointScalingEntity {
  @PrimaryColumn({ name: 'endpoint_id', type: 'text' })
  endpointId!: string;

  @Column({ type: 'integer' })
  desired!: number;

  @Column({ type: 'text' })
  reason!: string;

  @Column({ type: 'text' })
  detail!: string;

  @Column({ type: 'jsonb' })
  waiting!: readonly WaitingWorker[];

  @Column({ type: 'integer' })
  unplaced!: number;

  @Column({ type: 'jsonb', nullable: true })
  starts!: ReleaseStarts | null;

  @Column({ name: 'decided_at', type: 'timestamptz' })
  decidedAt!: Date;
}
