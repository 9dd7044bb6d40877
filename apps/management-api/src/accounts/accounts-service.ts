import type { ApiKeySnapshot } from '@berth/contracts';
import {
  PlatformError,
  SCOPE_PRESETS,
  changeLimits,
  fieldChanges,
  type AccountId,
  type LimitChange,
} from '@berth/domain';
import { makeApiKey, requireVersion, type Caller, type VersionMatch } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { AuditStore } from '../audit/index.js';
import type { ControlSnapshots } from '../snapshots/index.js';
import type { Transactions } from '../persistence/index.js';
import type { Account, AccountsStore, AccountRemains } from './accounts.store.js';

export interface AccountsServiceOptions {
  readonly records: AccountsStore;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly snapshots: ControlSnapshots;
  readonly clock: Clock;
  readonly random: Random;
}

export interface NewAccount {
  readonly account: Account;
  readonly firstKey: {
    readonly id: string;
    readonly name: string;
    readonly key: string;
    readonly scopes: readonly string[];
  };
}

const ID_LENGTH = 14;
const FIRST_KEY_NAME = 'first key';

/** Accounts of the installation; for operators. */
export class AccountsService {
  readonly #options: AccountsServiceOptions;

  constructor(options: AccountsServiceOptions) {
    this.#options = options;
  }

  /** With a key for everything but the operator's part. The key is in the answer this once. */
  async create(caller: Caller, name: string): Promise<NewAccount> {
    const { audit, clock, random, records, snapshots, transactions } = this.#options;
    const account: Account = {
      id: random.id(ID_LENGTH) as AccountId,
      name,
      limits: {},
      version: 1,
      createdAtMs: clock.nowMs(),
    };
    const { hash, key, prefix } = makeApiKey(random);
    const snapshot: ApiKeySnapshot = {
      id: random.id(ID_LENGTH),
      accountId: account.id,
      prefix,
      hash,
      scopes: SCOPE_PRESETS.all,
      endpointIds: null,
      expiresAtMs: null,
    };
    await transactions.run(async () => {
      await records.insert(account, { name: FIRST_KEY_NAME, snapshot });
      await audit.append({
        caller,
        action: 'account.created',
        resourceId: account.id,
        diff: fieldChanges({}, { name }),
      });
      await snapshots.apiKeysChanged([prefix]);
    });
    return { account, firstKey: { id: snapshot.id, name: FIRST_KEY_NAME, key, scopes: snapshot.scopes } };
  }

  list(): Promise<readonly Account[]> {
    return this.#options.records.list();
  }

  /** @throws PlatformError `account-not-found` */
  async get(id: AccountId): Promise<Account> {
    return found(await this.#options.records.find(id));
  }

  /**
   * Changes its limits; what does not really change leaves no trace.
   *
   * @param expected null: whatever version it is in
   * @throws PlatformError `account-not-found`; `precondition-failed` when it is in another version
   */
  update(
    caller: Caller,
    id: AccountId,
    { change, expected }: { readonly change: LimitChange; readonly expected: VersionMatch | null },
  ): Promise<Account> {
    const { audit, records, snapshots, transactions } = this.#options;
    return transactions.run(async () => {
      const before = found(await records.lock(id, 'change'));
      requireVersion(expected, before.version);
      const limits = changeLimits(before.limits, change);
      const diff = fieldChanges({ limits: before.limits }, { limits });
      if (diff.length === 0) return before;
      const after = { ...before, limits, version: before.version + 1 };
      await records.update(after);
      await audit.append({ caller, action: 'account.updated', resourceId: id, diff });
      await snapshots.accountChanged(id);
      // Workers may wait for a place because of a limit.
      snapshots.announce('all');
      return after;
    });
  }

  /**
   * With its endpoints and keys.
   *
   * @throws PlatformError `account-not-found`, `precondition-failed`, `rule-conflict` for the caller's own: nobody could
   *   undo that
   */
  async delete(caller: Caller, id: AccountId, expected: VersionMatch | null): Promise<void> {
    const { audit, clock, records, snapshots, transactions } = this.#options;
    if (id === caller.accountId) throw new PlatformError('rule-conflict', 'An account cannot delete itself.');
    await transactions.run(async () => {
      requireVersion(expected, found(await records.lock(id, 'deletion')).version);
      const remains = await records.delete(id, clock.nowMs());
      await audit.append({ caller, action: 'account.deleted', resourceId: id, diff: [] });
      await this.#withdraw(remains);
    });
    snapshots.announce('all');
  }

  async #withdraw({ endpoints, keyPrefixes }: AccountRemains): Promise<void> {
    const { snapshots } = this.#options;
    const ids = endpoints.map(({ id }) => id);
    await snapshots.apiKeysChanged(keyPrefixes);
    await snapshots.endpointsChanged(ids);
    await snapshots.webhookSecretsChanged(ids);
  }
}

function found(account: Account | null): Account {
  if (account === null) throw new PlatformError('account-not-found', 'No such account.');
  return account;
}
