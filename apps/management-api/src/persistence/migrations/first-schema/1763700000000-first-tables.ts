import { ForwardMigration } from '../../forward-migration.js';

/** Accounts with their keys and endpoints, hosts with their workers, and who leads the control loops. */
export class FirstTables1763700000000 extends ForwardMigration {
  readonly name = 'FirstTables1763700000000';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE accounts (
     id text PRIMARY KEY,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     created_at timestamptz NOT NULL DEFAULT now(),
     deleted_at timestamptz
   )`,
  `CREATE TABLE api_keys (
     id text PRIMARY KEY,
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     prefix text NOT NULL UNIQUE,
     hash text NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
     scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
     endpoint_ids text[],
     expires_at timestamptz,
     created_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE INDEX api_keys_of_account ON api_keys (account_id, created_at)`,
  `CREATE TABLE endpoints (
     id text PRIMARY KEY,
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     spec jsonb NOT NULL CHECK (jsonb_typeof(spec) = 'object'),
     release integer NOT NULL CHECK (release >= 1),
     created_at timestamptz NOT NULL DEFAULT now(),
     deleted_at timestamptz
   )`,
  `CREATE INDEX endpoints_of_account ON endpoints (account_id, created_at) WHERE deleted_at IS NULL`,
  `CREATE INDEX endpoints_deleted ON endpoints (id) WHERE deleted_at IS NOT NULL`,
  `CREATE INDEX endpoints_with_minimum ON endpoints (id) WHERE (spec->'workers'->>'min')::integer > 0`,
  `CREATE TABLE releases (
     endpoint_id text NOT NULL REFERENCES endpoints ON DELETE CASCADE,
     release integer NOT NULL CHECK (release >= 1),
     container jsonb NOT NULL CHECK (jsonb_typeof(container) = 'object'),
     created_at timestamptz NOT NULL DEFAULT now(),
     PRIMARY KEY (endpoint_id, release)
   )`,
  `CREATE TABLE hosts (
     id text PRIMARY KEY,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     data_center_id text NOT NULL CHECK (data_center_id <> ''),
     labels jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(labels) = 'object'),
     intent text NOT NULL DEFAULT 'ready' CHECK (intent IN ('ready', 'cordoned', 'draining')),
     secret_hash text CHECK (secret_hash ~ '^[0-9a-f]{64}$'),
     inventory jsonb CHECK (jsonb_typeof(inventory) = 'object'),
     instance_id text,
     report_sequence integer NOT NULL DEFAULT 0 CHECK (report_sequence >= 0),
     last_seen_at timestamptz,
     created_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE TABLE join_tokens (
     host_id text PRIMARY KEY REFERENCES hosts ON DELETE CASCADE,
     hash text NOT NULL UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$'),
     expires_at timestamptz NOT NULL,
     used_at timestamptz
   )`,
  `CREATE TABLE workers (
     id text PRIMARY KEY,
     endpoint_id text NOT NULL REFERENCES endpoints,
     host_id text NOT NULL REFERENCES hosts ON DELETE CASCADE,
     release integer NOT NULL CHECK (release >= 1),
     intent text NOT NULL CHECK (intent IN ('running', 'drained')),
     resources jsonb NOT NULL CHECK (jsonb_typeof(resources) = 'object'),
     restarts integer NOT NULL DEFAULT 0 CHECK (restarts >= 0),
     observed jsonb CHECK (jsonb_typeof(observed) = 'object'),
     created_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE INDEX workers_of_endpoint ON workers (endpoint_id, created_at)`,
  `CREATE INDEX workers_of_host ON workers (host_id)`,
  `CREATE TABLE endpoint_scaling (
     endpoint_id text PRIMARY KEY REFERENCES endpoints ON DELETE CASCADE,
     desired integer NOT NULL CHECK (desired >= 0),
     reason text NOT NULL,
     detail text NOT NULL,
     waiting jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(waiting) = 'array'),
     decided_at timestamptz NOT NULL
   )`,
  `CREATE INDEX endpoint_scaling_wanted ON endpoint_scaling (endpoint_id) WHERE desired > 0`,
  `CREATE TABLE leader_leases (
     name text PRIMARY KEY,
     holder text NOT NULL,
     term bigint NOT NULL CHECK (term >= 1),
     expires_at timestamptz NOT NULL
   )`,
];
