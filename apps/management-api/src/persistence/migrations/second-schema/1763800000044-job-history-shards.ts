import { ForwardMigration } from '../../forward-migration.js';

/**
 * How far the job history has read the logs of endpoints, one row for each shard, written in the transaction of what came
 * before it. A place counts only in the stream that was made at that instant.
 */
export class JobHistoryShards1763800000044 extends ForwardMigration {
  readonly name = 'JobHistoryShards1763800000044';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE job_history_shards (
     shard integer PRIMARY KEY CHECK (shard >= 0),
     stream_created text NOT NULL CHECK (stream_created <> ''),
     sequence bigint NOT NULL CHECK (sequence >= 0),
     complete_until timestamptz
   )`,
];
