import type { AccountId, Endpoint, EndpointId, FieldChange, LimitOverrides } from '@berth/domain';

/** Who made a release, when, and what it changed. */
export interface NewRelease {
  readonly diff: readonly FieldChange[];
  /** The API key that made it. */
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/** How many endpoints an account has, and what an operator has set of its limits. */
export interface EndpointCount {
  readonly count: number;
  readonly limits: LimitOverrides;
}

/** Every method is about one account; deleted endpoints are not there. */
export interface EndpointRecords {
  /**
   * Stores the endpoint and its first release.
   *
   * @throws PlatformError `invalid-api-key` when the account is gone; `registry-not-found`, `network-volume-not-found`
   *   when one of them was deleted meanwhile
   */
  insert(endpoint: Endpoint, firstRelease: NewRelease): Promise<void>;
  /**
   * Nobody else counts them so, or changes the account, until the transaction is over: asked after an insert, and as late
   * as can be, it holds for the endpoints that are there once that is committed.
   */
  holdCount(accountId: AccountId): Promise<EndpointCount>;
  find(accountId: AccountId, id: EndpointId): Promise<Endpoint | null>;
  /** Nobody else changes or deletes it until the transaction is over. */
  lock(accountId: AccountId, id: EndpointId): Promise<Endpoint | null>;
  /** Oldest first. */
  list(accountId: AccountId): Promise<readonly Endpoint[]>;
  /**
   * Replaces a locked endpoint.
   *
   * @param release where the endpoint has a new one; of many the oldest go
   * @throws PlatformError `registry-not-found`, `network-volume-not-found` when one of them was deleted meanwhile
   */
  update(endpoint: Endpoint, release: NewRelease | null): Promise<void>;
  /** Marks a locked endpoint deleted, and lets go of what it refers to; its workers go before its row does. */
  delete(accountId: AccountId, id: EndpointId, nowMs: number): Promise<void>;
}
