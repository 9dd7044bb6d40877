import type { SealingKeys } from '../connections/index.js';
import { misuse, type CommandError } from '../program/index.js';

/** `refused`: whoever restores with these keys could open nothing. `partly`: some of it. */
export type SealingVerdict =
  | { readonly kind: 'whole' }
  | { readonly kind: 'partly'; readonly note: string }
  | { readonly kind: 'refused'; readonly refusal: CommandError };

const MEND = 'Set BERTH_SECRET_KEY as the management API has it; several keys stand with commas between.';

/** Whether the keys that a backup is taken with open what it copies. A secret whose key is lost keeps nobody from a backup. */
export function judgeSealing(sealedWith: SealingKeys, own: readonly string[]): SealingVerdict {
  const missing = [...sealedWith].filter(([key]) => !own.includes(key));
  if (missing.length === 0) return { kind: 'whole' };
  const secrets = missing.reduce((sum, [, each]) => sum + each, 0);
  const told = missing.map(([key]) => key).join(', ');
  if (missing.length === sealedWith.size) {
    const message = `BERTH_SECRET_KEY opens none of the ${String(secrets)} secrets in the database; they were sealed with ${told}.`;
    return { kind: 'refused', refusal: misuse(message, MEND) };
  }
  return {
    kind: 'partly',
    note: `BERTH_SECRET_KEY does not open ${String(secrets)} of the secrets in the database, which were sealed with ${told}. ${MEND}`,
  };
}
