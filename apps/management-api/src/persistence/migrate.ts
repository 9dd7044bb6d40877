import type { DataSource } from 'typeorm';

/** Any number, as long as everybody who migrates this database takes the same. */
const LOCK_KEY = 4_274_813;

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
