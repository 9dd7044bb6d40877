import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId, EndpointId } from '@berth/domain';

/** A key as its account sees it: the snapshot of the others, with a name and a date. */
export interface ApiKeyRecord extends ApiKeySnapshot {
  readonly name: string;
  readonly createdAtMs: number;
}

/** Every method is about one account. A `publish` runs inside the transaction: when it throws, nothing has happened. */
export interface ApiKeyRecords {
  insert(key: ApiKeyRecord, publish: () => Promise<void>): Promise<void>;
  list(accountId: AccountId): Promise<readonly ApiKeyRecord[]>;
  /** Returns whether it was there. */
  delete(accountId: AccountId, id: string, publish: (prefix: string) => Promise<void>): Promise<boolean>;
  /** Those of the ids that are endpoints of the account. */
  knownEndpoints(accountId: AccountId, ids: readonly EndpointId[]): Promise<ReadonlySet<EndpointId>>;
}
