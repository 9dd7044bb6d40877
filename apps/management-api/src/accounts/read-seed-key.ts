import type { ConfigReader } from '@berth/lifecycle';
import { seedKeyOf, type SeedKey } from './seed-account.js';

const SEED_HASH = /^bk_([a-z0-9]{8,16}):([0-9a-f]{64})$/;

/** The key that an installation starts with, whole or as its hash; null: neither is set. */
export function readSeedKey(read: ConfigReader): SeedKey | null {
  const key = read.optional(
    'BERTH_SEED_API_KEY',
    'Whole key of the account `default`, `bk_PREFIX_SECRET`; without it and its hash no account is made.',
  );
  const hash = read.optional(
    'BERTH_SEED_API_KEY_HASH',
    'In its place, as `berth init` writes it: `bk_PREFIX:` and the lower-case hex SHA-256 of the whole key.',
  );
  if (key !== null && hash !== null)
    read.problems.push('BERTH_SEED_API_KEY and BERTH_SEED_API_KEY_HASH: set one of them');
  if (key !== null) return seedOfKey(read, key);
  if (hash === null) return null;
  const [, prefix, digest] = SEED_HASH.exec(hash) ?? [];
  if (prefix !== undefined && digest !== undefined) return { prefix, hash: digest };
  read.problems.push('BERTH_SEED_API_KEY_HASH must look like bk_PREFIX:SHA256, as `berth init` writes it');
  return null;
}

function seedOfKey(read: ConfigReader, key: string): SeedKey | null {
  const seed = seedKeyOf(key);
  if (seed === null) {
    read.problems.push(
      'BERTH_SEED_API_KEY must look like bk_PREFIX_SECRET, with 8 to 16 and 40 lower-case letters or digits',
    );
  }
  return seed;
}
