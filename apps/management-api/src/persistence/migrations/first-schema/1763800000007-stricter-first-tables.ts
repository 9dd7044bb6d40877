import { ForwardMigration } from '../../forward-migration.js';

/** The first tables, held to what their programs have always written: no row that a reader could not make sense of. */
export class StricterFirstTables1763800000007 extends ForwardMigration {
  readonly name = 'StricterFirstTables1763800000007';
  protected readonly statements = STATEMENTS;
}

const SCOPES = [
  ...['serverless', 'jobs', 'templates', 'registries', 'volumes', 'clusters', 'keys'].flatMap((room) => [
    `${room}:read`,
    `${room}:write`,
  ]),
  'catalog:read',
  'admin',
];
const PHASES = ['preparing', 'starting', 'idle', 'busy', 'draining', 'waiting', 'unhealthy', 'removed'];

const words = (list: readonly string[]): string => list.map((word) => `'${word}'`).join(', ');

/** False, not unknown, where a member is missing or of another type: a check lets the unknown pass. */
const holds = (column: string, path: string): string =>
  `(${column} IS NULL OR (${column} @@ 'strict ${path}') IS TRUE)`;

const atLeastNone = (...members: readonly string[]): string => members.map((name) => `$.${name} >= 0`).join(' && ');

const STATEMENTS: readonly string[] = [
  `ALTER TABLE accounts ADD CONSTRAINT accounts_id CHECK (id <> '')`,
  `ALTER TABLE api_keys
     ADD CONSTRAINT api_keys_id CHECK (id <> ''),
     ADD CONSTRAINT api_keys_prefix CHECK (prefix ~ '^[a-z0-9]{8,16}$'),
     ADD CONSTRAINT api_keys_scopes CHECK (scopes <@ ARRAY[${words(SCOPES)}]),
     ADD CONSTRAINT api_keys_endpoints
       CHECK (cardinality(endpoint_ids) > 0 AND array_position(endpoint_ids, NULL) IS NULL),
     ADD CONSTRAINT api_keys_life CHECK (expires_at > created_at)`,
  // At the end of the transaction: each of the two refers to the other.
  `ALTER TABLE endpoints
     ADD CONSTRAINT endpoints_id CHECK (id <> ''),
     ADD CONSTRAINT endpoints_latest_release FOREIGN KEY (id, release) REFERENCES releases
       DEFERRABLE INITIALLY DEFERRED`,
  `ALTER TABLE hosts
     ADD CONSTRAINT hosts_id CHECK (id <> ''),
     ADD CONSTRAINT hosts_label_values CHECK (NOT labels @? 'strict $.* ? (@.type() != "string")'),
     ADD CONSTRAINT hosts_inventory_whole
       CHECK (${holds('inventory', `${atLeastNone('vcpus', 'memoryBytes', 'diskBytes')} && $.gpus.type() == "array"`)})`,
  `ALTER TABLE workers
     ADD CONSTRAINT workers_id CHECK (id <> ''),
     ADD CONSTRAINT workers_of_release FOREIGN KEY (endpoint_id, release) REFERENCES releases,
     ADD CONSTRAINT workers_resources_whole
       CHECK (${holds('resources', atLeastNone('vcpus', 'memoryBytes', 'diskBytes', 'gpuCount'))}),
     ADD CONSTRAINT workers_own_observation CHECK ((observed->>'workerId' = id) IS NOT FALSE),
     ADD CONSTRAINT workers_phase CHECK (observed IS NULL OR (observed->>'phase' IN (${words(PHASES)})) IS TRUE)`,
  `ALTER TABLE endpoint_scaling ADD CONSTRAINT endpoint_scaling_reason CHECK (reason <> '')`,
  `ALTER TABLE leader_leases
     ADD CONSTRAINT leader_leases_name CHECK (name <> ''),
     ADD CONSTRAINT leader_leases_holder CHECK (holder <> '')`,
];
