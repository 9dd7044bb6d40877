import { ForwardMigration } from '../../forward-migration.js';

/** Where workers that are gone have been: their hosts keep their logs for a while. */
export class DepartedWorkers1763800000047 extends ForwardMigration {
  readonly name = 'DepartedWorkers1763800000047';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE departed_workers (
     worker_id text PRIMARY KEY CONSTRAINT departed_workers_id CHECK (worker_id <> ''),
     endpoint_id text NOT NULL REFERENCES endpoints (id) ON DELETE CASCADE,
     host_id text NOT NULL REFERENCES hosts (id) ON DELETE CASCADE,
     departed_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE INDEX departed_workers_of_endpoint ON departed_workers (endpoint_id, departed_at)`,
  `CREATE INDEX departed_workers_of_host ON departed_workers (host_id)`,
  `CREATE INDEX departed_workers_oldest ON departed_workers (departed_at)`,
];
