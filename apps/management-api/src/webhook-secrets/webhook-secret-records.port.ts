import type { AccountId, EndpointId } from '@berth/domain';

/** A secret as it lies in the database. */
export interface WebhookSecretRecord {
  readonly endpointId: EndpointId;
  /** 1, 2, 3 and so on for one endpoint. */
  readonly ordinal: number;
  readonly sealedSecret: string;
  readonly createdAtMs: number;
  /** Null: the present one. */
  readonly expiresAtMs: number | null;
}

export interface WebhookSecretRecords {
  /** Newest first. */
  list(endpointId: EndpointId): Promise<readonly WebhookSecretRecord[]>;
  /** Until the transaction is over nobody else changes or deletes the endpoint. Returns whether it is there. */
  hold(accountId: AccountId, endpointId: EndpointId): Promise<boolean>;
  /** The first ones of an endpoint that the same transaction has made. */
  insert(records: readonly WebhookSecretRecord[]): Promise<void>;
  /** What a held endpoint has is replaced. */
  replace(endpointId: EndpointId, records: readonly WebhookSecretRecord[]): Promise<void>;
  /** Endpoints that are not deleted and have no secret, at most `limit`. */
  without(limit: number): Promise<readonly { readonly accountId: AccountId; readonly id: EndpointId }[]>;
}
