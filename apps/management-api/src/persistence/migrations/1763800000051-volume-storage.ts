import { ForwardMigration } from '../forward-migration.js';

/** Where the data of network volumes lie, which worker has which, and whose files are still to go. */
export class VolumeStorage1763800000051 extends ForwardMigration {
  readonly name = 'VolumeStorage1763800000051';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE network_volumes ADD COLUMN storage_id text CHECK (storage_id <> '')`,
  `ALTER TABLE workers ADD COLUMN volume_id text CONSTRAINT workers_volume REFERENCES network_volumes (id)`,
  `CREATE INDEX workers_of_volume ON workers (volume_id) WHERE volume_id IS NOT NULL`,
  // Of accounts that are gone too, so no row of theirs is named.
  `CREATE TABLE deleted_volumes (
     id text PRIMARY KEY CHECK (id <> ''),
     account_id text NOT NULL CHECK (account_id <> ''),
     storage_id text NOT NULL CHECK (storage_id <> ''),
     deleted_at timestamptz NOT NULL DEFAULT now()
   )`,
  `CREATE INDEX deleted_volumes_of_storage ON deleted_volumes (storage_id, deleted_at)`,
];
