import { randomBytes, randomUUID } from 'node:crypto';

/** Chance enters the system here, so that a test can repeat it. */
export interface Random {
  uuid(): string;
  /** Lower-case letters and digits, unguessable from 20 characters on. */
  id(length: number): string;
  /** In [0, 1). */
  fraction(): number;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** Bytes beyond the last whole alphabet would make its first letters likelier, so they are left out. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);
/** One byte of 64 is left out; these are more than an id loses of them as good as ever. */
const SPARE_BYTES = 8;
const FRACTION_STEPS = 2 ** 32;

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  id: (length) => {
    let id = '';
    while (id.length < length) {
      for (const byte of randomBytes(length + SPARE_BYTES)) {
        if (byte < FAIR_BYTES && id.length < length) id += ALPHABET[byte % ALPHABET.length];
      }
    }
    return id;
  },
  fraction: () => randomBytes(4).readUInt32BE() / FRACTION_STEPS,
};
