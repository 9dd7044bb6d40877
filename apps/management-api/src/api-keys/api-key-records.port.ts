import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId, EndpointId } from '@berth/domain';

/** A key as its account sees it: the snapshot of the others, with a name and a date. */
export interface ApiKeyRecord extends ApiKeySnapshot {
  readonly name: string;
  readonly createdAtMs: number;
}

/** Every method is about one account. */
export interface ApiKeyRecords {
  insert(key: ApiKeyRecord): Promise<void>;
  list(accountId: AccountId): Promise<readonly ApiKeyRecord[]>;
  /** Returns what it was, or null when it was not there. */
  delete(accountId: AccountId, id: string): Promise<ApiKeyRecord | null>;
  /** Those of the ids that are endpoints of the account. */
  knownEndpoints(accountId: AccountId, ids: readonly EndpointId[]): Promise<ReadonlySet<EndpointId>>;
}
