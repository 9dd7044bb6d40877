import { isDeepStrictEqual } from 'node:util';
import type { ReleaseStarts, WaitingWorker } from '@berth/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** As a row has them: neighbours that say the same are one entry. */
interface KeptWaiting extends WaitingWorker {
  /** How many say so; absent: one. */
  readonly count?: number;
}

/** All workers of an endpoint wait for one reason, with a line for each host: a row would have that fifty times over. */
const WAITING_ROWS = {
  to(waiting: readonly WaitingWorker[]): readonly KeptWaiting[] {
    const kept: { readonly worker: WaitingWorker; count: number }[] = [];
    for (const worker of waiting) {
      const last = kept.at(-1);
      if (last !== undefined && isDeepStrictEqual(last.worker, worker)) last.count += 1;
      else kept.push({ worker, count: 1 });
    }
    return kept.map(({ count, worker }) => ({ ...worker, count }));
  },
  from: (kept: readonly KeptWaiting[]): readonly WaitingWorker[] =>
    kept.flatMap(({ count = 1, ...worker }) => Array.from({ length: count }, () => worker)),
};

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

  @Column({ type: 'jsonb', transformer: WAITING_ROWS })
  waiting!: readonly WaitingWorker[];

  @Column({ type: 'integer' })
  unplaced!: number;

  @Column({ type: 'jsonb', nullable: true })
  starts!: ReleaseStarts | null;

  @Column({ name: 'decided_at', type: 'timestamptz' })
  decidedAt!: Date;
}
