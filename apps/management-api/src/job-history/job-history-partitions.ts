import type { Database } from '../persistence/index.js';

/** Any number, as long as everybody who changes the partitions takes the same. */
const LOCK_KEY = 4_274_814;

const WANTED = `
  SELECT to_char(day, 'YYYYMMDD') AS day, format('%s', day::date) AS starts, format('%s', day::date + 1) AS ends
    FROM generate_series((now() AT TIME ZONE 'UTC')::date - $1::integer,
                         (now() AT TIME ZONE 'UTC')::date + $2::integer, interval '1 day') AS day`;

const PRESENT = `
  SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'job_history'::regclass ORDER BY 1`;

const NAME = 'job_history_';

/**
 * The partitions of the history, one for each day of submission. Days are of the database's clock, in UTC: one process
 * with a wrong clock must not drop what is still kept.
 */
export class JobHistoryPartitions {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Makes those of the days that are kept and of some days to come, and drops older ones with all that is in them. To be
   * run as often as one likes, by several at once.
   *
   * @returns the names of those that were made and dropped
   */
  keep(days: {
    readonly past: number;
    readonly ahead: number;
  }): Promise<{ readonly made: readonly string[]; readonly dropped: readonly string[] }> {
    return this.#database.transaction(async (manager) => {
      await manager.query(`SELECT pg_advisory_xact_lock($1)`, [LOCK_KEY]);
      const wanted = await manager.query<{ day: string; starts: string; ends: string }[]>(WANTED, [
        days.past,
        days.ahead,
      ]);
      const present = (await manager.query<{ name: string }[]>(PRESENT)).map(({ name }) => name);
      const missing = wanted.filter(({ day }) => !present.includes(NAME + day));
      for (const { day, ends, starts } of missing) {
        await manager.query(
          `CREATE TABLE ${NAME}${day} PARTITION OF job_history
             FOR VALUES FROM ('${starts} 00:00:00+00') TO ('${ends} 00:00:00+00')`,
        );
      }
      const oldest = NAME + (wanted[0]?.day ?? '');
      const dropped = present.filter((name) => name < oldest);
      for (const name of dropped) await manager.query(`DROP TABLE ${name}`);
      return { made: missing.map(({ day }) => NAME + day), dropped };
    });
  }
}
