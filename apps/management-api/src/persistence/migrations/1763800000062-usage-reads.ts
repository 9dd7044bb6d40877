import { ForwardMigration } from '../forward-migration.js';

/** What accounts read of their usage: a scope for it, and indexes. Keys that may read all else may read this too. */
export class UsageReads1763800000062 extends ForwardMigration {
  readonly name = 'UsageReads1763800000062';
  protected readonly statements = STATEMENTS;
}

const ROOMS = ['serverless', 'jobs', 'templates', 'registries', 'volumes', 'clusters', 'keys'];
const READ = [...ROOMS.map((room) => `${room}:read`), 'catalog:read'];
const ALL = [...READ, ...ROOMS.map((room) => `${room}:write`), 'usage:read', 'admin'];

const words = (list: readonly string[]): string => list.map((word) => `'${word}'`).join(', ');

const STATEMENTS: readonly string[] = [
  `ALTER TABLE api_keys
     DROP CONSTRAINT api_keys_scopes,
     ADD CONSTRAINT api_keys_scopes CHECK (scopes <@ ARRAY[${words(ALL)}])`,
  `UPDATE api_keys SET scopes = array_append(scopes, 'usage:read') WHERE scopes @> ARRAY[${words(READ)}]`,
  `CREATE INDEX worker_runs_ended ON worker_runs (account_id, counted_until) WHERE until IS NOT NULL`,
  `CREATE INDEX usage_hours_of_endpoint ON usage_hours (account_id, endpoint_id, hour)`,
];
