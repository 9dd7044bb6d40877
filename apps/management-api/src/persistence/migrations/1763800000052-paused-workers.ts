import { ForwardMigration } from '../forward-migration.js';

/** A worker may be meant to be frozen for want of jobs, and be so. */
export class PausedWorkers1763800000052 extends ForwardMigration {
  readonly name = 'PausedWorkers1763800000052';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE workers
     DROP CONSTRAINT workers_intent_check,
     ADD CONSTRAINT workers_intent_check CHECK (intent IN ('running', 'paused', 'drained')),
     DROP CONSTRAINT workers_phase,
     ADD CONSTRAINT workers_phase CHECK (observed IS NULL OR (observed->>'phase' IN (
       'preparing', 'starting', 'idle', 'busy', 'paused', 'draining', 'waiting', 'unhealthy', 'removed')) IS TRUE)`,
];
