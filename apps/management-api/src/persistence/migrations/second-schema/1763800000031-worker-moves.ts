import { ForwardMigration } from '../../forward-migration.js';

/**
 * The memory of the control loops about a worker: how it shall leave, where it failed before, and why it stays there.
 */
export class WorkerMoves1763800000031 extends ForwardMigration {
  readonly name = 'WorkerMoves1763800000031';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE workers
     ADD COLUMN leaves_after_idle_ms integer CONSTRAINT workers_idle_leave CHECK (leaves_after_idle_ms >= 0),
     ADD COLUMN failed_on text[] NOT NULL DEFAULT '{}',
     ADD COLUMN stays_because text CONSTRAINT workers_stay CHECK (stays_because <> '')`,
];
