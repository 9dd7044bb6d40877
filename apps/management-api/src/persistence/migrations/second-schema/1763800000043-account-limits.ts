import { ForwardMigration } from '../../forward-migration.js';

/** The limits of an account that an operator has set, and how often anything of the account was changed. */
export class AccountLimits1763800000043 extends ForwardMigration {
  readonly name = 'AccountLimits1763800000043';
  protected readonly statements = STATEMENTS;
}

/** As they were when this was written; one that comes later has a migration of its own. */
const NAMES = [
  'endpoints',
  'jobsPerEndpoint',
  'payloadBytesPerEndpoint',
  'idempotencyKeysPerEndpoint',
  'pendingDeliveriesPerEndpoint',
  'chunkBytesPerAttempt',
  'chunkBytes',
  'heldCallsPerRouter',
];

const NAMED = `limits - ARRAY[${NAMES.map((name) => `'${name}'`).join(', ')}] = '{}'`;
const IS_NO_COUNT = `strict $.* ? (@.type() != "number" || @ < 1 || @.floor() != @)`;

const STATEMENTS: readonly string[] = [
  `ALTER TABLE accounts
     ADD COLUMN version integer NOT NULL DEFAULT 1 CONSTRAINT accounts_version CHECK (version >= 1),
     ADD COLUMN limits jsonb NOT NULL DEFAULT '{}',
     ADD CONSTRAINT accounts_limits CHECK (
       CASE jsonb_typeof(limits) WHEN 'object' THEN ${NAMED} AND NOT limits @? '${IS_NO_COUNT}' ELSE false END)`,
];
