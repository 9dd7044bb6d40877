import type { AccountId, NetworkVolumeType } from '@berth/domain';
import type { ResourceUser } from '../references/resource-users.js';

export interface NetworkVolume {
  readonly id: string;
  readonly accountId: AccountId;
  readonly name: string;
  readonly sizeGb: number;
  readonly dataCenterId: string;
  readonly type: NetworkVolumeType;
  readonly createdAtMs: number;
}

/** Every method is about one account. */
export interface NetworkVolumeRecords {
  /** @throws PlatformError `invalid-api-key` when the account is gone */
  insert(volume: NetworkVolume): Promise<void>;
  find(accountId: AccountId, id: string): Promise<NetworkVolume | null>;
  /** Oldest first. */
  list(accountId: AccountId): Promise<readonly NetworkVolume[]>;
  /** Until the transaction is over nobody begins to use it, and nobody else changes or deletes it. */
  lock(accountId: AccountId, id: string): Promise<NetworkVolume | null>;
  /** At most `limit` of those that keep it from being deleted. */
  usersOf(accountId: AccountId, id: string, limit: number): Promise<readonly ResourceUser[]>;
  update(volume: Pick<NetworkVolume, 'accountId' | 'id' | 'name' | 'sizeGb'>): Promise<void>;
  delete(accountId: AccountId, id: string): Promise<void>;
}
