import { misuse } from '../program/index.js';
import type { InstallationRecord } from './installation.js';

/**
 * `add`: all open with the new one. `switch`: the new one seals. `retire`: the old one goes. Each is a restart of one
 * process after the other, and each may be made again.
 */
export const ROTATION_STEPS = ['add', 'switch', 'retire'] as const;
export type RotationStep = (typeof ROTATION_STEPS)[number];

/** The value of `BERTH_SECRET_KEY`: the first key seals, all open. */
export function secretKeysOf({ secretKey, secretKeyRotation }: SecretKeys): string {
  if (secretKeyRotation === undefined) return secretKey;
  const { other, step } = secretKeyRotation;
  return step === 'add' ? `${secretKey},${other}` : `${other},${secretKey}`;
}

/** The same where backups are put back: those of before open as well. */
export const restoreKeysOf = (installation: SecretKeys): string =>
  [secretKeysOf(installation), ...(installation.retiredSecretKeys ?? []).toReversed()].join(',');

export type SecretKeys = Pick<InstallationRecord, 'secretKey' | 'secretKeyRotation' | 'retiredSecretKeys'>;

/**
 * The installation after a step. The same step once more changes nothing.
 *
 * @throws CommandError when the step does not follow the one before
 */
export function rotateSecretKey<Kept extends SecretKeys>(kept: Kept, step: RotationStep, made: string): Kept {
  const { secretKeyRotation: rotation } = kept;
  if (step === 'retire') {
    if (rotation === undefined) return kept;
    if (rotation.step !== 'switch') throw outOfOrder('the new key does not seal yet', 'switch');
    const retiredSecretKeys = [...(kept.retiredSecretKeys ?? []), kept.secretKey];
    return { ...kept, secretKey: rotation.other, secretKeyRotation: undefined, retiredSecretKeys };
  }
  if (step === 'switch') {
    if (rotation === undefined) throw outOfOrder('there is no new key yet', 'add');
    return { ...kept, secretKeyRotation: { ...rotation, step } };
  }
  if (rotation?.step === 'switch') throw outOfOrder('the last rotation has not ended', 'retire');
  return { ...kept, secretKeyRotation: rotation ?? { other: made, step } };
}

const outOfOrder = (why: string, first: RotationStep) =>
  misuse(`${why}; nothing was changed.`, `Run \`--rotate secret-key --step ${first}\` first, and restart as it says.`);
