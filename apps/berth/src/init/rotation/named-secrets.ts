import { publicNatsKeys, type NatsKeys } from '@berth/broker-access';
import { parseSecretKeys } from '@berth/secrets';
import type { InstallationRecord, RotatedSecrets } from '../installation.js';
import type { RotationName } from './rotation-steps.js';
import { loginOf } from './secrets-in-use.js';

/** A secret by a name that gives nothing of it away. */
export interface NamedSecret {
  /** `current`: it is used. `new`: it works as well. `old`: it works still. `retired`: it is gone. */
  readonly state: 'current' | 'new' | 'old' | 'retired';
  /** As a sealed text, a broker's configuration or the database names it. */
  readonly id: string;
}

const namesOfRoles = (roles: NatsKeys['roles'], { nats }: InstallationRecord): readonly string[] => {
  const keys = publicNatsKeys({ roles: { ...nats.roles, ...roles }, issuer: nats.issuer });
  return Object.entries(keys.roles).map(([role, names]) => `${role} ${names.join(' ')}`);
};

type Names = {
  readonly [Name in RotationName]: {
    readonly now: (kept: InstallationRecord) => RotatedSecrets[Name];
    readonly idsOf: (secret: RotatedSecrets[Name], kept: InstallationRecord) => readonly string[];
  };
};

const NAMES: Names = {
  'secret-key': {
    now: ({ secretKey }) => secretKey,
    idsOf: (key) => (parseSecretKeys(key) ?? []).map(({ id }) => id),
  },
  'role-keys': { now: ({ nats }) => nats.roles, idsOf: namesOfRoles },
  issuer: {
    now: ({ nats }) => nats.issuer,
    idsOf: (issuer, { nats }) => [publicNatsKeys({ roles: nats.roles, issuer }).issuer],
  },
  'database-password': { now: loginOf, idsOf: ({ user }) => [user] },
};

/** Which secrets of a kind there are behind a step, the one that is used first. */
export function namedSecrets<Name extends RotationName>(
  name: Name,
  before: InstallationRecord,
  after: InstallationRecord,
): readonly NamedSecret[] {
  const { idsOf, now } = NAMES[name];
  const named = (state: NamedSecret['state'], secret: RotatedSecrets[Name]): readonly NamedSecret[] =>
    idsOf(secret, after).map((id) => ({ state, id }));
  const rotation = after.rotations?.[name];
  if (rotation?.step === 'add') return [...named('current', now(after)), ...named('new', rotation.other)];
  if (rotation?.step === 'switch') return [...named('current', rotation.other), ...named('old', now(after))];
  const isRetiring = before.rotations?.[name] !== undefined;
  return [...named('current', now(after)), ...(isRetiring ? named('retired', now(before)) : [])];
}
