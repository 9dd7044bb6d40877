import { ForwardMigration } from '../forward-migration.js';

/** What a worker may be meant to be: also frozen, for want of jobs. */
export class PausedWorkers1763800000052 extends ForwardMigration {
  readonly name = 'PausedWorkers1763800000052';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE workers
     DROP CONSTRAINT workers_intent_check,
     ADD CONSTRAINT workers_intent_check CHECK (intent IN ('running', 'paused', 'drained'))`,
];
