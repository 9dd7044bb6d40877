import { publicNatsKeys, type NatsKeys, type NatsPublicKeys } from '@berth/broker-access';
import type { DatabaseLogin, InstallationRecord, RotatedSecrets } from '../installation.js';

type Secrets = Pick<
  InstallationRecord,
  'secretKey' | 'retiredSecretKeys' | 'nats' | 'databaseUser' | 'databasePassword' | 'rotations'
>;

const USERS = ['berth', 'berth_2'] as const;

/** The value of `BERTH_SECRET_KEY`: the first key seals, all open. */
export function secretKeysOf(kept: Secrets): string {
  const first = inUse(kept, 'secret-key', kept.secretKey);
  const { other } = kept.rotations?.['secret-key'] ?? { other: first };
  return [...new Set([first, kept.secretKey, other])].join(',');
}

/** The same where backups are put back: those of before open as well. */
export const restoreKeysOf = (kept: Secrets): string =>
  [secretKeysOf(kept), ...(kept.retiredSecretKeys ?? []).toReversed()].join(',');

/** The value of `BERTH_AUTH_ISSUER_SEED`: each broker is answered with the one that it trusts. */
export function issuersOf(kept: Secrets): string {
  const { other } = kept.rotations?.issuer ?? { other: kept.nats.issuer };
  return [...new Set([kept.nats.issuer, other])].join(',');
}

/** With what each process comes to the brokers. */
export const rolesOf = (kept: Secrets): NatsKeys['roles'] => ({
  ...kept.nats.roles,
  ...(kept.rotations?.['role-keys']?.step === 'switch' && kept.rotations['role-keys'].other),
});

/** Whom the brokers let in, and whose word on agents they take. */
export function brokerKeysOf(kept: Secrets): NatsPublicKeys {
  const other = kept.rotations?.['role-keys']?.other;
  const issuer = inUse(kept, 'issuer', kept.nats.issuer);
  const roles = { ...kept.nats.roles };
  return publicNatsKeys({ roles, issuer }, ...(other === undefined ? [] : [{ ...roles, ...other }]));
}

/** With what our processes log in to the database. */
export const databaseLoginOf = (kept: Secrets): DatabaseLogin => inUse(kept, 'database-password', loginOf(kept));

/** The login that is replaced where one is. */
export const loginOf = ({ databasePassword, databaseUser = USERS[0] }: Secrets): DatabaseLogin => ({
  user: databaseUser,
  password: databasePassword,
});

export const otherUserOf = (user: string): string => (user === USERS[0] ? USERS[1] : USERS[0]);

function inUse<Name extends keyof RotatedSecrets>(
  { rotations }: Secrets,
  name: Name,
  now: RotatedSecrets[Name],
): RotatedSecrets[Name] {
  const rotation = rotations?.[name];
  return rotation?.step === 'switch' ? rotation.other : now;
}
