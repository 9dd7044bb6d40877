import { ForwardMigration } from '../forward-migration.js';

/**
 * What an audit entry tells may be sealed anew with another key. Nothing else of an entry may change: without its sealed
 * texts it is the same before and after.
 */
export class ResealedAudit1763800000060 extends ForwardMigration {
  readonly name = 'ResealedAudit1763800000060';
  protected readonly statements = STATEMENTS;
}

const SEALED = '"v1[.][0-9a-f]{8}[.][A-Za-z0-9_-]+"';
const withoutSeals = (row: string): string => `regexp_replace(${row}.diff::text, '${SEALED}', '"sealed"', 'g')`;

const STATEMENTS: readonly string[] = [
  `CREATE FUNCTION refuse_change_but_of_seals() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF TG_OP = 'UPDATE' THEN
         IF to_jsonb(NEW) - 'diff' = to_jsonb(OLD) - 'diff' AND ${withoutSeals('NEW')} = ${withoutSeals('OLD')} THEN
           RETURN NEW;
         END IF;
       END IF;
       RAISE EXCEPTION '% is only ever added to', TG_TABLE_NAME;
     END $$`,
  `DROP TRIGGER audit_entries_stay ON audit_entries`,
  `CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE ON audit_entries
     FOR EACH ROW EXECUTE FUNCTION refuse_change_but_of_seals()`,
];
