import { ForwardMigration } from '../forward-migration.js';

/** What workers have used: stretches of their lives as hosts report them, and their sums by hour. */
export class WorkerUsage1763800000061 extends ForwardMigration {
  readonly name = 'WorkerUsage1763800000061';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE worker_runs (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     worker_id text NOT NULL CHECK (worker_id <> ''),
     account_id text NOT NULL CHECK (account_id <> ''),
     endpoint_id text NOT NULL CHECK (endpoint_id <> ''),
     host_id text NOT NULL CHECK (host_id <> ''),
     gpu_type_id text CHECK (gpu_type_id <> ''),
     gpu_count integer NOT NULL CHECK (gpu_count >= 0),
     use text NOT NULL CHECK (use IN ('running', 'paused')),
     counted_until timestamptz NOT NULL,
     until timestamptz CHECK (until >= counted_until)
   )`,
  `CREATE UNIQUE INDEX worker_runs_open ON worker_runs (worker_id) WHERE until IS NULL`,
  `CREATE INDEX worker_runs_of_host ON worker_runs (host_id) WHERE until IS NULL`,
  `CREATE INDEX worker_runs_uncounted ON worker_runs (counted_until, id)`,
  `CREATE TABLE usage_hours (
     account_id text NOT NULL CHECK (account_id <> ''),
     hour timestamptz NOT NULL CHECK (hour = date_trunc('hour', hour, 'UTC')),
     endpoint_id text NOT NULL CHECK (endpoint_id <> ''),
     gpu_type_id text NOT NULL,
     worker_ms bigint NOT NULL CHECK (worker_ms >= 0),
     gpu_ms bigint NOT NULL CHECK (gpu_ms >= 0),
     paused_worker_ms bigint NOT NULL CHECK (paused_worker_ms >= 0),
     paused_gpu_ms bigint NOT NULL CHECK (paused_gpu_ms >= 0),
     PRIMARY KEY (account_id, hour, endpoint_id, gpu_type_id)
   )`,
  `CREATE INDEX usage_hours_oldest ON usage_hours (hour)`,
];
