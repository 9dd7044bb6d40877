import type { AccountId, VolumePlace } from '@berth/domain';

/** What endpoints refer to. Every method is about one account. */
export interface ReferenceRecords {
  hasRegistry(accountId: AccountId, id: string): Promise<boolean>;
  /** Those of the volumes that there are, in the order of the ids. */
  placesOf(accountId: AccountId, volumeIds: readonly string[]): Promise<readonly VolumePlace[]>;
}
