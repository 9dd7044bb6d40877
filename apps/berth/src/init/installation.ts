import { createHash, randomBytes } from 'node:crypto';
import { createNatsKeys, type NatsKeys } from '@berth/broker-access';
import { createAuthority, type CertifiedKey } from '@berth/broker-access/certificates';
import type { Random } from '@berth/lifecycle';
import type { InstallationPlan } from './installation-plan.js';

/** Everything from which the files of an installation are made: its holder is the operator. */
export interface InstallationRecord {
  readonly format: 1;
  readonly plan: InstallationPlan;
  /** Absent: `berth`, as it was when the installation was made. */
  readonly databaseUser?: string | undefined;
  readonly databasePassword: string;
  /** Base64 of the 32 bytes with which credentials are sealed at rest. */
  readonly secretKey: string;
  /** Those of before, oldest first: backups that were made then need them. */
  readonly retiredSecretKeys?: readonly string[] | undefined;
  /** What is being replaced. */
  readonly rotations?: Rotations | undefined;
  readonly nats: NatsKeys;
  /** What the database is told of the first key; the key itself is kept nowhere. */
  readonly firstKey: FirstKey;
  readonly authority: CertifiedKey;
  readonly authorityUntilMs: number;
}

/** With what our processes log in to the database. */
export interface DatabaseLogin {
  readonly user: string;
  readonly password: string;
}

/** What can be replaced without a stop, by the name that people give it. */
export interface RotatedSecrets {
  readonly 'secret-key': string;
  readonly 'role-keys': NatsKeys['roles'];
  readonly issuer: string;
  readonly 'database-password': DatabaseLogin;
}

/** `add`: the other one works as well; `switch`: it is the one that is used. */
export interface Rotation<Secret> {
  readonly other: Secret;
  readonly step: 'add' | 'switch';
}

export type Rotations = { readonly [Name in keyof RotatedSecrets]?: Rotation<RotatedSecrets[Name]> | undefined };

export interface FirstKey {
  readonly prefix: string;
  /** Lower-case hex SHA-256 of the whole. */
  readonly hash: string;
}

/** Of whom the certificates are. */
const AUTHORITY_NAME = 'Berth installation';
const DAY_MS = 24 * 60 * 60_000;
const AUTHORITY_MS = 3_650 * DAY_MS;
const DATABASE_PASSWORD_LENGTH = 40;
const SECRET_KEY_BYTES = 32;
const KEY_PREFIX_LENGTH = 12;
const KEY_SECRET_LENGTH = 40;

/** A new installation's secrets, with its first key, which is shown once. */
export async function createInstallation(
  plan: InstallationPlan,
  random: Random,
  nowMs: number,
): Promise<{ readonly installation: InstallationRecord; readonly key: string }> {
  const authorityUntilMs = nowMs + AUTHORITY_MS;
  const { firstKey, key } = createFirstKey(random);
  const installation: InstallationRecord = {
    format: 1,
    plan,
    databasePassword: createDatabasePassword(random),
    secretKey: createSecretKey(),
    nats: createNatsKeys(),
    firstKey,
    authority: await createAuthority(AUTHORITY_NAME, { fromMs: nowMs, untilMs: authorityUntilMs }),
    authorityUntilMs,
  };
  return { installation, key };
}

export const createDatabasePassword = (random: Random): string => random.id(DATABASE_PASSWORD_LENGTH);

export const createSecretKey = (): string => randomBytes(SECRET_KEY_BYTES).toString('base64');

/** As the management API makes and keeps them. */
export function createFirstKey(random: Random): { readonly firstKey: FirstKey; readonly key: string } {
  const prefix = random.id(KEY_PREFIX_LENGTH);
  const key = `bk_${prefix}_${random.id(KEY_SECRET_LENGTH)}`;
  return { firstKey: { prefix, hash: createHash('sha256').update(key).digest('hex') }, key };
}
