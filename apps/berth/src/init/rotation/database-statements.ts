import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { DatabaseLogin, InstallationRecord } from '../installation.js';
import type { RotationStep } from './rotation-steps.js';
import { loginOf } from './secrets-in-use.js';

/** Below the folder of the installation. */
export const STATEMENTS_PATH = 'offline/database-password.sql';

const ITERATIONS = 4_096;
const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

/**
 * What whoever rules the database lets `psql` say to it, as often as they like; null: nothing. No password is in it, only what
 * PostgreSQL keeps of one.
 */
export function databaseStatements(kept: InstallationRecord, step: RotationStep): string | null {
  const other = kept.rotations?.['database-password']?.other;
  if (other === undefined) return null;
  const { user } = loginOf(kept);
  if (step === 'add') return addLogin(user, other);
  return step === 'retire' ? retireLogin(user) : null;
}

/** The second login does everything as the first, so that it does not matter which of them made a table. */
const addLogin = (user: string, other: DatabaseLogin): string => `BEGIN;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${other.user}') THEN
    CREATE ROLE ${other.user} LOGIN IN ROLE ${user};
    ALTER ROLE ${other.user} SET role = '${user}';
  END IF;
END $$;
ALTER ROLE ${other.user} PASSWORD '${verifierOf(other.password)}';
COMMIT;
`;

/** Refuses while somebody has come by the network with the old one. It owns the tables, so it stays, without a password. */
const retireLogin = (user: string): string => `BEGIN;
DO $$ DECLARE using_it text; BEGIN
  SELECT string_agg(DISTINCT coalesce(nullif(application_name, ''), 'somebody'), ', ') INTO using_it
    FROM pg_stat_activity WHERE usename = '${user}' AND client_addr IS NOT NULL AND pid <> pg_backend_pid();
  IF using_it IS NOT NULL THEN
    RAISE EXCEPTION '% still uses the old password: restart it, then say this again', using_it;
  END IF;
END $$;
ALTER ROLE ${user} PASSWORD NULL;
COMMIT;
`;

/**
 * As `pg_authid` keeps it (SCRAM-SHA-256, RFC 5802). The salt is of the password, which is of chance and for one login, so that
 * the same step says the same.
 */
function verifierOf(password: string): string {
  const salt = createHash('sha256').update(`salt of ${password}`).digest().subarray(0, SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, DIGEST_BYTES, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const parts = [
    `${String(ITERATIONS)}:${salt.toString('base64')}`,
    `${stored}:${keyOf('Server Key').toString('base64')}`,
  ];
  return `SCRAM-SHA-256$${parts.join('$')}`;
}
