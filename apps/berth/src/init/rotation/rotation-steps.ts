import { createNatsKeys } from '@berth/broker-access';
import type { Random } from '@berth/lifecycle';
import { misuse } from '../../program/index.js';
import {
  createDatabasePassword,
  createSecretKey,
  type InstallationRecord,
  type RotatedSecrets,
  type Rotation,
  type Rotations,
} from '../installation.js';
import { loginOf, otherUserOf } from './secrets-in-use.js';

/** What can be replaced without a stop, step by step. */
export const ROTATIONS = ['secret-key', 'role-keys', 'issuer', 'database-password'] as const;
export type RotationName = (typeof ROTATIONS)[number];

/**
 * `add`: the new one works as well. `switch`: it is the one that is used. `retire`: the old one goes. After each something is
 * restarted, one process after the other, and each may be made again.
 */
export const ROTATION_STEPS = ['add', 'switch', 'retire'] as const;
export type RotationStep = (typeof ROTATION_STEPS)[number];

/** How an installation keeps a secret that can be replaced. */
interface KeptSecret<Secret> {
  make(kept: InstallationRecord, random: Random): Secret;
  /** With the other one alone. What the old one is needed for later is kept. */
  replace(kept: InstallationRecord, other: Secret): InstallationRecord;
}

const SECRETS: { readonly [Name in RotationName]: KeptSecret<RotatedSecrets[Name]> } = {
  'secret-key': {
    make: createSecretKey,
    replace: (kept, secretKey) => ({
      ...{ ...kept, secretKey },
      // Backups of before need it.
      retiredSecretKeys: [...(kept.retiredSecretKeys ?? []), kept.secretKey],
    }),
  },
  'role-keys': {
    make: () => createNatsKeys().roles,
    // A role that came with a newer version meanwhile keeps its key.
    replace: (kept, roles) => ({ ...kept, nats: { ...kept.nats, roles: { ...kept.nats.roles, ...roles } } }),
  },
  issuer: {
    make: () => createNatsKeys().issuer,
    replace: (kept, issuer) => ({ ...kept, nats: { ...kept.nats, issuer } }),
  },
  'database-password': {
    // A login of PostgreSQL has one password, so there are two logins, which take turns.
    make: (kept, random) => ({ user: otherUserOf(loginOf(kept).user), password: createDatabasePassword(random) }),
    replace: (kept, { password, user }) => ({ ...kept, databaseUser: user, databasePassword: password }),
  },
};

/**
 * The installation after a step. The same step once more changes nothing.
 *
 * @throws CommandError when the step does not follow the one before
 */
export function takeStep<Name extends RotationName>(
  kept: InstallationRecord,
  { name, step }: { readonly name: Name; readonly step: RotationStep },
  random: Random,
): InstallationRecord {
  const rotation: Rotations[Name] = kept.rotations?.[name];
  const refusal = orderRefusal(rotation?.step ?? null, step);
  if (refusal !== null) throw outOfOrder(name, refusal);
  if (step === 'add') return withRotation(kept, name, rotation ?? { other: SECRETS[name].make(kept, random), step });
  if (rotation === undefined) return kept;
  if (step === 'switch') return withRotation(kept, name, { ...rotation, step });
  return withRotation(SECRETS[name].replace(kept, rotation.other), name, undefined);
}

interface OrderRefusal {
  readonly why: string;
  readonly first: RotationStep;
}

/** @param begun step that was made last; null: none, or all of them */
function orderRefusal(begun: 'add' | 'switch' | null, step: RotationStep): OrderRefusal | null {
  switch (step) {
    case 'add':
      return begun === 'switch' ? { why: 'the last rotation has not ended', first: 'retire' } : null;
    case 'switch':
      return begun === null ? { why: 'there is no new one yet', first: 'add' } : null;
    case 'retire':
      return begun === 'add' ? { why: 'the new one is not in use yet', first: 'switch' } : null;
  }
}

const withRotation = <Name extends RotationName>(
  kept: InstallationRecord,
  name: Name,
  rotation: Rotation<RotatedSecrets[Name]> | undefined,
): InstallationRecord => ({ ...kept, rotations: { ...kept.rotations, [name]: rotation } });

const outOfOrder = (name: RotationName, { first, why }: OrderRefusal) =>
  misuse(`${why}; nothing was changed.`, `Run \`--rotate ${name} --step ${first}\` first, and restart as it says.`);

/**
 * Each state that its files may be in: that of the installation, and where a run was cut off that of a step before or behind.
 */
export function stagesOf<Name extends RotationName>(
  kept: InstallationRecord,
  name: Name,
): readonly InstallationRecord[] {
  const rotation: Rotations[Name] = kept.rotations?.[name];
  if (rotation === undefined) return [kept];
  return [
    withRotation(kept, name, undefined),
    withRotation(kept, name, { ...rotation, step: 'add' }),
    withRotation(kept, name, { ...rotation, step: 'switch' }),
    withRotation(SECRETS[name].replace(kept, rotation.other), name, undefined),
  ];
}
