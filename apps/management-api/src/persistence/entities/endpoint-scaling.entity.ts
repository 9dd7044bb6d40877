import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A worker that is wanted and could not be placed: why, since when, and what spoke against each host. */
export interface WaitingWorker {
  readonly reason: string;
  readonly detail: string;
  /** ISO 8601. */
  readonly since: string;
  readonly hosts: readonly { readonly id: string; readonly reason: string }[];
}

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

  @Column({ name: 'decided_at', type: 'timestamptz' })
  decidedAt!: Date;
}
