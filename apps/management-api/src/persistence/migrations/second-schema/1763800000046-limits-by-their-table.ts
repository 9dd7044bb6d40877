import { ForwardMigration } from '../../forward-migration.js';

/** Which limits there are is known to one table of the code; the database sees to it that each is a count. */
export class LimitsByTheirTable1763800000046 extends ForwardMigration {
  readonly name = 'LimitsByTheirTable1763800000046';
  protected readonly statements = STATEMENTS;
}

const IS_NO_COUNT = `strict $.* ? (@.type() != "number" || @ < 1 || @.floor() != @)`;

const STATEMENTS: readonly string[] = [
  `ALTER TABLE accounts
     DROP CONSTRAINT accounts_limits,
     ADD CONSTRAINT accounts_limits CHECK (
       CASE jsonb_typeof(limits) WHEN 'object' THEN NOT limits @? '${IS_NO_COUNT}' ELSE false END)`,
];
