import { PlatformError, type AccountId } from '@berth/domain';
import type { EntityManager } from 'typeorm';

/** Holds the account while something is added to it, so that its deletion sees all of it. Its changes do not wait. */
export async function requireAccount(manager: EntityManager, accountId: AccountId): Promise<void> {
  const found = await manager.query<unknown[]>(
    `SELECT 1 FROM accounts WHERE id = $1 AND deleted_at IS NULL FOR KEY SHARE`,
    [accountId],
  );
  if (found.length === 0) throw new PlatformError('invalid-api-key', 'The account of this key is gone.');
}
