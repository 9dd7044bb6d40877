import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId, Endpoint, LimitOverrides } from '@berth/domain';

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  /** What an operator has set; all other limits are at their defaults. */
  readonly limits: LimitOverrides;
  /** Grows with each change, from 1. */
  readonly version: number;
  readonly createdAtMs: number;
}

/** What goes with an account. */
export interface AccountRemains {
  readonly endpoints: readonly Endpoint[];
  readonly keyPrefixes: readonly string[];
}

export interface AccountRecords {
  /** Stores the account with its first key. */
  insert(account: Account, firstKey: { readonly name: string; readonly snapshot: ApiKeySnapshot }): Promise<void>;
  list(): Promise<readonly Account[]>;
  find(id: AccountId): Promise<Account | null>;
  /**
   * Nobody else changes or deletes it until the transaction is over, or adds an endpoint to it; where it is to be deleted,
   * nobody adds anything.
   */
  lock(id: AccountId, purpose: 'change' | 'deletion'): Promise<Account | null>;
  /** Replaces a locked account. */
  update(account: Account): Promise<void>;
  /** Deletes a locked account, its endpoints and its keys. Returns these. */
  delete(id: AccountId, nowMs: number): Promise<AccountRemains>;
}
