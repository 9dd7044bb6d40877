import { ForwardMigration } from '../../forward-migration.js';

/**
 * How jobs ended, one partition for each day of submission (`job-history-partitions.ts` makes and drops them). No foreign
 * keys: rows come by the hundred, and those of an endpoint that goes are removed by a loop.
 */
export class JobHistory1763800000009 extends ForwardMigration {
  readonly name = 'JobHistory1763800000009';
  protected readonly statements = STATEMENTS;
}

const TEXT_MAX = 4_096;

const STATEMENTS: readonly string[] = [
  // Ids are compared byte by byte, as the routers do: a page of a list is cut at an id.
  `CREATE TABLE job_history (
     account_id text NOT NULL CHECK (account_id <> ''),
     endpoint_id text NOT NULL CHECK (endpoint_id <> ''),
     job_id text COLLATE "C" NOT NULL CHECK (job_id <> ''),
     created_at timestamptz NOT NULL,
     status text NOT NULL,
     origin text NOT NULL CHECK (origin IN ('run', 'runsync')),
     started_at timestamptz,
     ended_at timestamptz,
     delay_ms bigint NOT NULL CHECK (delay_ms >= 0),
     execution_ms bigint NOT NULL CHECK (execution_ms >= 0),
     host_id text CHECK (host_id <> ''),
     worker_id text CHECK (worker_id <> ''),
     attempts integer NOT NULL CHECK (attempts >= 0),
     attempt_list jsonb NOT NULL CHECK (jsonb_typeof(attempt_list) = 'array'),
     error text CHECK (char_length(error) <= ${String(TEXT_MAX)}),
     webhook text CHECK (char_length(webhook) <= ${String(TEXT_MAX)}),
     attempt integer NOT NULL CHECK (attempt >= 1),
     record_sequence bigint NOT NULL CHECK (record_sequence >= 1),
     CONSTRAINT job_history_pkey PRIMARY KEY (endpoint_id, job_id, created_at),
     CONSTRAINT job_history_end CHECK (CASE
       WHEN status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT') THEN ended_at IS NOT NULL
       WHEN status IN ('IN_QUEUE', 'IN_PROGRESS') THEN ended_at IS NULL
       ELSE false END),
     CONSTRAINT job_history_place CHECK (num_nulls(started_at, host_id, worker_id) IN (0, 3))
   ) PARTITION BY RANGE (created_at)`,
  `CREATE INDEX job_history_list ON job_history (account_id, endpoint_id, status, created_at DESC, job_id DESC)`,
  // Jobs that ended once and were queued again: few, and looked for whenever a record disappears.
  `CREATE INDEX job_history_unended ON job_history (endpoint_id, job_id) WHERE ended_at IS NULL`,
  `CREATE TABLE job_history_position (
     stream text PRIMARY KEY CHECK (stream <> ''),
     sequence bigint CHECK (sequence >= 1),
     stored_at text CHECK (stored_at <> ''),
     complete_until timestamptz NOT NULL,
     CONSTRAINT job_history_position_whole CHECK ((sequence IS NULL) = (stored_at IS NULL))
   )`,
];
