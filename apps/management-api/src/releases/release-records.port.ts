import type { AccountId, EndpointId, FieldChange } from '@berth/domain';

/** A release as it was made. */
export interface ReleaseRecord {
  /** Ordinal, from 1. */
  readonly release: number;
  /** Empty for the first. */
  readonly diff: readonly FieldChange[];
  /** The API key that made it; null where that was not kept yet. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
}

export interface ReleaseRecords {
  /** Of an endpoint of the account, newest first: those that are kept. */
  ofEndpoint(accountId: AccountId, endpointId: EndpointId): Promise<readonly ReleaseRecord[]>;
}
