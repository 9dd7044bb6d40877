import { createHash, createSecretKey, type KeyObject } from 'node:crypto';

/** A key of AES-256, and the name under which sealed secrets refer to it. */
export interface SecretKey {
  /** Eight hex characters of the key's SHA-256: enough to tell a handful of keys apart, and of no use in guessing one. */
  readonly id: string;
  /** Prepared once: the same bytes as a buffer cost four times as much at each use. */
  readonly key: KeyObject;
}

const KEY_BYTES = 32;
const ID_LENGTH = 8;

/**
 * One base64 key of 32 bytes, or several separated by commas, as `BERTH_SECRET_KEY` has them. Null when one of them is
 * anything else, or is there twice.
 */
export function parseSecretKeys(text: string): readonly SecretKey[] | null {
  const keys = text.split(',').map((part) => toKey(part.trim()));
  const known = keys.filter((key) => key !== null);
  const isDistinct = new Set(known.map(({ id }) => id)).size === keys.length;
  return isDistinct ? known : null;
}

function toKey(base64: string): SecretKey | null {
  const bytes = Buffer.from(base64, 'base64');
  // The decoder skips what is no base64; a key that lost a character must not pass for another one.
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== base64) return null;
  const id = createHash('sha256').update(bytes).digest('hex').slice(0, ID_LENGTH);
  return { id, key: createSecretKey(bytes) };
}
