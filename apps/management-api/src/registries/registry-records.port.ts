import type { AccountId } from '@berth/domain';
import type { ResourceUser } from '../references/resource-users.js';

/** Credentials of a container registry, without the credentials. */
export interface Registry {
  readonly id: string;
  readonly accountId: AccountId;
  readonly name: string;
  readonly createdAtMs: number;
}

/** Every method is about one account. */
export interface RegistryRecords {
  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert(registry: Registry, sealedCredentials: string): Promise<void>;
  find(accountId: AccountId, id: string): Promise<Registry | null>;
  /** Oldest first. */
  list(accountId: AccountId): Promise<readonly Registry[]>;
  /** Until the transaction is over nobody begins to use it, and it is not deleted. Returns whether it is there. */
  lock(accountId: AccountId, id: string): Promise<boolean>;
  /** At most `limit` of those that keep it from being deleted. */
  usersOf(accountId: AccountId, id: string, limit: number): Promise<readonly ResourceUser[]>;
  delete(accountId: AccountId, id: string): Promise<void>;
}
