import { ForwardMigration } from '../../forward-migration.js';

/** The record of changes and their authors. No foreign keys: an entry outlives what it tells of. */
export class AuditTrail1763800000004 extends ForwardMigration {
  readonly name = 'AuditTrail1763800000004';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE audit_entries (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     at timestamptz NOT NULL,
     account_id text NOT NULL CHECK (account_id <> ''),
     api_key_id text NOT NULL CHECK (api_key_id <> ''),
     action text NOT NULL CHECK (action ~ '^[a-z-]+\\.[a-z-]+$'),
     resource_id text NOT NULL CHECK (resource_id <> ''),
     diff jsonb NOT NULL CHECK (jsonb_typeof(diff) = 'array'),
     request_id text CHECK (request_id <> '')
   )`,
  `CREATE INDEX audit_entries_of_account ON audit_entries (account_id, id)`,
  `CREATE INDEX audit_entries_of_resource ON audit_entries (resource_id, id)`,
  `CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION '% is only ever added to', TG_TABLE_NAME; END $$`,
  `CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE ON audit_entries
     FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
  `CREATE TRIGGER audit_entries_are_not_emptied BEFORE TRUNCATE ON audit_entries
     FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
];
