import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { DataSource } from 'typeorm';

/** Any number, as long as everybody who migrates this database takes the same. */
const LOCK_KEY = 4_274_813;
/** About ten minutes. */
const LOOKS_MAX = 250;
const LOOK_MS = 500;
const LOOK_MAX_MS = 2_500;
const IS_BEHIND = 'The database has not got the tables of this version.';

/**
 * Runs what has not been run yet, each migration whole or not at all. Of several that come at once the first works and
 * the others wait for it and then find nothing to do. Returns the names of those that were run here.
 */
export async function migrate(source: DataSource): Promise<readonly string[]> {
  const lock = source.createQueryRunner();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    try {
      const done = await source.runMigrations({ transaction: 'each' });
      return done.map(({ name }) => name);
    } finally {
      await lock.query('SELECT pg_advisory_unlock($1)', [LOCK_KEY]);
    }
  } finally {
    await lock.release();
  }
}

export interface WaitTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: about ten minutes. */
  readonly looksMax?: number;
}

/**
 * Waits until somebody else has run every migration of this program, and for the database itself. Changes nothing in it.
 *
 * @param source connected or not yet
 * @throws the last error when they did not come
 */
export const waitUntilMigrated = (source: DataSource, tools: WaitTools): Promise<void> =>
  retry(
    async () => {
      if (!source.isInitialized) await source.initialize();
      if (await isBehind(source)) throw new Error(IS_BEHIND);
    },
    {
      ...{ clock: tools.clock, random: tools.random },
      ...{ attemptsMax: tools.looksMax ?? LOOKS_MAX, baseDelayMs: LOOK_MS, maxDelayMs: LOOK_MAX_MS },
      isRetriable: (error) => {
        tools.logger.warn('waiting for the migration', { error });
        return true;
      },
    },
  );

/** Without `showMigrations` where their table is missing: it would make it, beside the one who is about to. */
async function isBehind(source: DataSource): Promise<boolean> {
  const [row] = await source.query<{ readonly there: boolean }[]>('SELECT to_regclass($1) IS NOT NULL AS there', [
    source.options.migrationsTableName,
  ]);
  return row?.there !== true || source.showMigrations();
}
