import { SCOPES } from '@berth/domain';
import { hashApiKey, prefixOfApiKey } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { EntityManager } from 'typeorm';
import { ApiKeyEntity, type Database } from '../persistence/index.js';

/** Account and key that an installation starts with; neither id ever changes. */
const SEED_ID = 'default';

/** What is kept of a key, and all that is needed for it to open its account. */
export interface SeedKey {
  readonly prefix: string;
  readonly hash: string;
}

/** Null: the text is no key. */
export function seedKeyOf(apiKey: string): SeedKey | null {
  const prefix = prefixOfApiKey(apiKey);
  return prefix === null ? null : { prefix, hash: hashApiKey(apiKey) };
}

/**
 * `withdrawn`: the key was let in once and is there no more, since somebody deleted it, or another took its place. Nothing
 * was written: a key that leaked must not come back because a process is started again.
 */
export type SeedOutcome = 'set' | 'unchanged' | 'withdrawn';

/**
 * Makes sure that the account `default` is there and that this key opens it, with every scope. Safe to run at each
 * start: a key that has changed takes the place of the old one.
 */
export async function seedAccount(database: Database, key: SeedKey, clock: Clock): Promise<SeedOutcome> {
  const seededAt = new Date(clock.nowMs());
  return database.transaction(async (manager) => {
    // Another migration with the same key at the same time waits here, and finds it there afterwards.
    const remembered = await manager.query<unknown[]>(
      `INSERT INTO seeded_keys (hash, seeded_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING hash`,
      [key.hash, seededAt],
    );
    if (remembered.length === 0 && !(await isKept(manager, key))) return 'withdrawn';
    return (await write(manager, key, seededAt)) ? 'set' : 'unchanged';
  });
}

const isKept = (manager: EntityManager, { hash }: SeedKey): Promise<boolean> =>
  manager.existsBy(ApiKeyEntity, { id: SEED_ID, hash });

/** Returns whether anything was written. */
async function write(manager: EntityManager, { hash, prefix }: SeedKey, createdAt: Date): Promise<boolean> {
  const accounts = await manager.query<unknown[]>(
    `INSERT INTO accounts AS a (id, name, created_at) VALUES ($1, $1, $2)
     ON CONFLICT (id) DO UPDATE SET deleted_at = NULL WHERE a.deleted_at IS NOT NULL
     RETURNING id`,
    [SEED_ID, createdAt],
  );
  const keys = await manager.query<unknown[]>(
    `INSERT INTO api_keys AS k (id, account_id, name, prefix, hash, scopes, created_at)
     VALUES ($1, $1, $1, $2, $3, $4, $5)
     ON CONFLICT (id) DO UPDATE
        SET prefix = excluded.prefix, hash = excluded.hash, scopes = excluded.scopes,
            endpoint_ids = NULL, expires_at = NULL
      WHERE (k.prefix, k.hash, k.scopes) IS DISTINCT FROM (excluded.prefix, excluded.hash, excluded.scopes)
         OR k.endpoint_ids IS NOT NULL OR k.expires_at IS NOT NULL
     RETURNING id`,
    [SEED_ID, prefix, hash, [...SCOPES], createdAt],
  );
  return accounts.length + keys.length > 0;
}
