import { ForwardMigration } from '../../forward-migration.js';

/**
 * The secrets that sign the webhooks of endpoints. Those that are there get theirs from the program, which has the key.
 */
export class WebhookSecrets1763800000008 extends ForwardMigration {
  readonly name = 'WebhookSecrets1763800000008';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE webhook_secrets (
     endpoint_id text NOT NULL REFERENCES endpoints ON DELETE CASCADE,
     ordinal integer NOT NULL CHECK (ordinal >= 1),
     sealed_secret text NOT NULL CHECK (sealed_secret ~ '^v1\\.[0-9a-f]{8}\\.[A-Za-z0-9_-]+$'),
     created_at timestamptz NOT NULL DEFAULT now(),
     expires_at timestamptz,
     PRIMARY KEY (endpoint_id, ordinal),
     CONSTRAINT webhook_secrets_life CHECK (expires_at > created_at)
   )`,
  // One signs without an end, so that there is always one to replace.
  `CREATE UNIQUE INDEX webhook_secrets_present ON webhook_secrets (endpoint_id) WHERE expires_at IS NULL`,
];
