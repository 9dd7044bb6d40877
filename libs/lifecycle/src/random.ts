import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** Chance enters the system here, so that a test can repeat it. */
export interface Random {
  uuid(): string;
  /** Lower-case letters and digits, unguessable from 20 characters on. */
  id(length: number): string;
  /** In [0, 1). */
  fraction(): number;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const FRACTION_STEPS = 2 ** 32;

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  id: (length) => Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
  fraction: () => randomBytes(4).readUInt32BE() / FRACTION_STEPS,
};
