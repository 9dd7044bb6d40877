import type { AccountId, Endpoint, EndpointId } from '@berth/domain';

/**
 * Every method is about one account; deleted endpoints are not there. A `publish` runs inside the write's transaction:
 * when it throws, nothing has happened.
 */
export interface EndpointRecords {
  /** Stores the endpoint and its first release. @throws PlatformError `invalid-api-key` when the account is gone */
  insert(endpoint: Endpoint, publish: () => Promise<void>): Promise<void>;
  find(accountId: AccountId, id: EndpointId): Promise<Endpoint | null>;
  /** Oldest first. */
  list(accountId: AccountId): Promise<readonly Endpoint[]>;
  /** Marks it deleted; its workers go before its row does. Returns whether it was there. */
  delete(
    key: { readonly accountId: AccountId; readonly id: EndpointId },
    nowMs: number,
    publish: (endpoint: Endpoint) => Promise<void>,
  ): Promise<boolean>;
}
