import { ForwardMigration } from '../../forward-migration.js';

/**
 * Resources to which endpoints refer cannot go while they do, and are of the same account. A deleted endpoint keeps its
 * row for a while, but holds nothing any more.
 */
export class EndpointReferences1763800000005 extends ForwardMigration {
  readonly name = 'EndpointReferences1763800000005';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE endpoints
     ADD COLUMN registry_id text
       GENERATED ALWAYS AS (CASE WHEN deleted_at IS NULL THEN spec->'container'->>'registryId' END) STORED,
     ADD CONSTRAINT endpoints_registry FOREIGN KEY (account_id, registry_id) REFERENCES registries (account_id, id)`,
  `CREATE INDEX endpoints_of_registry ON endpoints (account_id, registry_id) WHERE registry_id IS NOT NULL`,
  `CREATE TABLE endpoint_volumes (
     account_id text NOT NULL,
     endpoint_id text NOT NULL,
     volume_id text NOT NULL,
     PRIMARY KEY (endpoint_id, volume_id),
     CONSTRAINT endpoint_volumes_endpoint FOREIGN KEY (account_id, endpoint_id)
       REFERENCES endpoints (account_id, id) ON DELETE CASCADE,
     CONSTRAINT endpoint_volumes_volume FOREIGN KEY (account_id, volume_id) REFERENCES network_volumes (account_id, id)
   )`,
  `CREATE INDEX endpoint_volumes_of_volume ON endpoint_volumes (account_id, volume_id)`,
];
