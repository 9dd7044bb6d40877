import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ObservedWorker, WorkerIntent, WorkerResources } from '@berth/domain';

@Entity({ name: 'workers' })
export class WorkerEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'endpoint_id', type: 'text' })
  endpointId!: string;

  @Column({ name: 'host_id', type: 'text' })
  hostId!: string;

  @Column({ type: 'integer' })
  release!: number;

  /** Written by the control loops only. */
  @Column({ type: 'text' })
  intent!: WorkerIntent;

  @Column({ type: 'jsonb' })
  resources!: WorkerResources;

  /** Grows when somebody asks for a restart. */
  @Column({ type: 'integer' })
  restarts!: number;

  /** Written by the reports of its host only. */
  @Column({ type: 'jsonb', nullable: true })
  observed!: ObservedWorker | null;

  /** Of a worker that is drained, or to be paused: null where that is at once. Written by the control loops only, as what follows. */
  @Column({ name: 'leaves_after_idle_ms', type: 'integer', nullable: true })
  leavesAfterIdleMs!: number | null;

  @Column({ name: 'failed_on', type: 'text', array: true })
  failedOn!: string[];

  @Column({ name: 'stays_because', type: 'text', nullable: true })
  staysBecause!: string | null;

  /** The network volume that it has. */
  @Column({ name: 'volume_id', type: 'text', nullable: true })
  volumeId!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
