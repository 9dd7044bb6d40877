import { createHash, timingSafeEqual } from 'node:crypto';
import type { Random } from '@berth/lifecycle';

/** `bk_<prefix>_<secret>`. The prefix is public and finds the key; only a hash of the whole is kept. */
const PATTERN = /^bk_([a-z0-9]{8,16})_[a-z0-9]{40}$/;
const PREFIX_LENGTH = 12;
const SECRET_LENGTH = 40;

export interface NewApiKey {
  /** Shown once. */
  readonly key: string;
  readonly prefix: string;
  readonly hash: string;
}

export function makeApiKey(random: Random): NewApiKey {
  const prefix = random.id(PREFIX_LENGTH);
  const key = `bk_${prefix}_${random.id(SECRET_LENGTH)}`;
  return { key, prefix, hash: hashApiKey(key) };
}

/** The key's public prefix, or null where the text is no key of ours. */
export const prefixOfApiKey = (key: string): string | null => PATTERN.exec(key)?.[1] ?? null;

/** Lower-case hex SHA-256. A key has more than 200 bits of chance, so a slow hash would protect nothing more. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** In a time that does not depend on where the two differ. */
export function matchesHash(key: string, hash: string): boolean {
  const given = createHash('sha256').update(key).digest();
  const kept = Buffer.from(hash, 'hex');
  return given.length === kept.length && timingSafeEqual(given, kept);
}
