import { ForwardMigration } from '../../forward-migration.js';

/**
 * The things with which endpoints and pods are made: templates, credentials of container registries, network volumes.
 */
export class TemplatesRegistriesVolumes1763800000002 extends ForwardMigration {
  readonly name = 'TemplatesRegistriesVolumes1763800000002';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  // The pair is unique so that others can refer to it: whatever names a registry then is of the registry's own account.
  `CREATE TABLE registries (
     id text PRIMARY KEY CHECK (id <> ''),
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     sealed_credentials text NOT NULL CHECK (sealed_credentials ~ '^v1\\.[0-9a-f]{8}\\.[A-Za-z0-9_-]+$'),
     created_at timestamptz NOT NULL DEFAULT now(),
     UNIQUE (account_id, id)
   )`,
  `CREATE INDEX registries_of_account ON registries (account_id, created_at)`,
  `CREATE TABLE network_volumes (
     id text PRIMARY KEY CHECK (id <> ''),
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     size_gb integer NOT NULL CHECK (size_gb BETWEEN 10 AND 4096),
     data_center_id text NOT NULL CHECK (char_length(data_center_id) BETWEEN 1 AND 255),
     type text NOT NULL CHECK (type IN ('STANDARD', 'HIGH_PERFORMANCE')),
     created_at timestamptz NOT NULL DEFAULT now(),
     UNIQUE (account_id, id)
   )`,
  `CREATE INDEX network_volumes_of_account ON network_volumes (account_id, created_at)`,
  `CREATE TABLE templates (
     id text PRIMARY KEY CHECK (id <> ''),
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     image text NOT NULL CHECK (image ~ '^\\S+$'),
     args text NOT NULL,
     disk_gb integer CHECK (disk_gb >= 1),
     env jsonb NOT NULL CHECK (jsonb_typeof(env) = 'object' AND NOT env @? 'strict $.* ? (@.type() != "string")'),
     ports text[] NOT NULL CHECK (array_to_string(ports, ',', '-') ~ '^([1-9]\\d{0,4}/(http|tcp|udp)(,|$))*$'),
     registry_id text,
     mount_gb integer CHECK (mount_gb >= 10),
     mount_path text CHECK (mount_path LIKE '/%'),
     is_serverless boolean NOT NULL,
     is_public boolean NOT NULL,
     source text NOT NULL CHECK (source IN ('official', 'verified', 'community')),
     category text NOT NULL CHECK (category IN ('CPU', 'NVIDIA', 'AMD')),
     starts_ssh boolean NOT NULL,
     starts_jupyter boolean NOT NULL,
     allowed_cuda_versions text[] NOT NULL
       CHECK (array_to_string(allowed_cuda_versions, ',', '-') ~ '^(\\d+\\.\\d+(,|$))*$'),
     created_at timestamptz NOT NULL DEFAULT now(),
     CONSTRAINT templates_mount CHECK ((mount_gb IS NULL) = (mount_path IS NULL)),
     CONSTRAINT templates_registry FOREIGN KEY (account_id, registry_id)
       REFERENCES registries (account_id, id) ON DELETE SET NULL (registry_id)
   )`,
  `CREATE INDEX templates_of_account ON templates (account_id, created_at)`,
  `CREATE INDEX templates_public ON templates (created_at) WHERE is_public`,
  `CREATE INDEX templates_of_registry ON templates (account_id, registry_id) WHERE registry_id IS NOT NULL`,
];
