import { ForwardMigration } from '../../forward-migration.js';

/**
 * The job history is made of logs alone: how far a stream of events was read, and which version of a record a row came from,
 * say nothing any more. Rows that were made of records stay, and are told until their day is dropped.
 */
export class JobHistoryOfLogs1763800000045 extends ForwardMigration {
  readonly name = 'JobHistoryOfLogs1763800000045';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  // It served only those who looked for the job of a record that had disappeared.
  `DROP INDEX job_history_unended`,
  `ALTER TABLE job_history DROP COLUMN record_sequence`,
  `DROP TABLE job_history_position`,
];
