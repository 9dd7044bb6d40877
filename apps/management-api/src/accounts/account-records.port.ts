import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId, Endpoint } from '@berth/domain';

export interface Account {
  readonly id: AccountId;
  readonly name: string;
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
  /** Deletes the account, its endpoints and its keys. Returns these, or null when it was not there. */
  delete(id: AccountId, nowMs: number): Promise<AccountRemains | null>;
}
