import type { ApiKeySnapshot } from '@berth/contracts';
import { PlatformError, SCOPE_PRESETS, type AccountId } from '@berth/domain';
import { makeApiKey, type Caller } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { ControlSnapshots } from '../snapshots/control-snapshots.port.js';
import type { Account, AccountRecords, AccountRemains } from './account-records.port.js';

export interface AccountsServiceOptions {
  readonly records: AccountRecords;
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
  async create(name: string): Promise<NewAccount> {
    const { clock, random, records, snapshots } = this.#options;
    const account: Account = { id: random.id(ID_LENGTH) as AccountId, name, createdAtMs: clock.nowMs() };
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
    await records.insert(account, { name: FIRST_KEY_NAME, snapshot }, () => snapshots.putApiKey(snapshot));
    return { account, firstKey: { id: snapshot.id, name: FIRST_KEY_NAME, key, scopes: snapshot.scopes } };
  }

  list(): Promise<readonly Account[]> {
    return this.#options.records.list();
  }

  /** @throws PlatformError `account-not-found` */
  async get(id: AccountId): Promise<Account> {
    const account = await this.#options.records.find(id);
    if (account === null) throw new PlatformError('account-not-found', 'No such account.');
    return account;
  }

  /**
   * With its endpoints and keys.
   *
   * @throws PlatformError `account-not-found`, `rule-conflict` for the caller's own: nobody could undo that
   */
  async delete(caller: Caller, id: AccountId): Promise<void> {
    const { clock, records, snapshots } = this.#options;
    if (id === caller.accountId) throw new PlatformError('rule-conflict', 'An account cannot delete itself.');
    const nowMs = clock.nowMs();
    const wasThere = await records.delete(id, nowMs, (remains) => this.#withdraw(remains, nowMs));
    if (!wasThere) throw new PlatformError('account-not-found', 'No such account.');
    snapshots.announce('all');
  }

  async #withdraw({ endpoints, keyPrefixes }: AccountRemains, nowMs: number): Promise<void> {
    const { snapshots } = this.#options;
    for (const prefix of keyPrefixes) await snapshots.removeApiKey(prefix);
    for (const endpoint of endpoints) await snapshots.putDeletedEndpoint(endpoint, nowMs);
  }
}
