import {
  effectiveLimits,
  limitReached,
  type AccountId,
  type AccountLimitName,
  type LimitOverrides,
} from '@berth/domain';
import type { Database } from '../persistence/index.js';

/** How much of a limit an account uses, of those that count its rows, or add up what they say. */
const USE_OF = {
  endpoints: 'SELECT count(*) AS used FROM endpoints WHERE account_id = $1 AND deleted_at IS NULL',
  volumeGb: 'SELECT coalesce(sum(size_gb), 0) AS used FROM network_volumes WHERE account_id = $1',
} as const satisfies Readonly<Partial<Record<AccountLimitName, string>>>;

export type CountedLimit = keyof typeof USE_OF;

/** There is room once something is deleted, at a time that cannot be known. */
const RETRY_SECONDS = 60;

export class AccountUseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * No other transaction counts so, or changes the account, until this one is over: asked after an insert, and as late as
   * can be, it holds for what is there once that is committed.
   *
   * @throws PlatformError `limit-reached`
   */
  async requireWithin(accountId: AccountId, limit: CountedLimit): Promise<void> {
    await this.#database.transaction(async (manager) => {
      // A statement of its own: the next one sees whatever was committed while this one waited.
      const accounts = await manager.query<{ readonly limits: LimitOverrides }[]>(
        `SELECT limits FROM accounts WHERE id = $1 FOR NO KEY UPDATE`,
        [accountId],
      );
      const [use] = await manager.query<{ readonly used: string }[]>(USE_OF[limit], [accountId]);
      const most = effectiveLimits(accounts[0]?.limits ?? {})[limit];
      if (Number(use?.used) > most) throw limitReached(limit, most, RETRY_SECONDS);
    });
  }
}
