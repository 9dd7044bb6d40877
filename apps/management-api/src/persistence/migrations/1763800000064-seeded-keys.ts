import { ForwardMigration } from '../forward-migration.js';

/** First keys that a migration has let in: one of them that is gone was taken away by somebody, and stays so. */
export class SeededKeys1763800000064 extends ForwardMigration {
  readonly name = 'SeededKeys1763800000064';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE seeded_keys (
     hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
     seeded_at timestamptz NOT NULL
   )`,
  `INSERT INTO seeded_keys (hash, seeded_at) SELECT hash, created_at FROM api_keys WHERE id = 'default'`,
];
