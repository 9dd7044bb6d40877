import type { AccountId } from '@berth/domain';
import type { Database } from '../persistence/index.js';

/** The windows in which every account's requests are counted. */
export const RATE_WINDOWS = [
  { name: 'minute', seconds: 60 },
  { name: 'hour', seconds: 3_600 },
  { name: 'day', seconds: 86_400 },
] as const;

type RateWindowName = (typeof RATE_WINDOWS)[number]['name'];

/** Requests that each window admits, at least 1; null: as many as come. */
export type RateQuotas = Readonly<Record<RateWindowName, number | null>>;

/** How the windows stand after a request. */
export interface RateCount {
  readonly isAdmitted: boolean;
  /** By the clock that all processes share. */
  readonly nowMs: number;
  /** Admitted in the windows of that instant. */
  readonly used: Readonly<Record<RateWindowName, number>>;
}

interface Row {
  readonly at: Date;
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly isAdmitted: boolean;
}

/**
 * `countRequest` of the domain, done by the database: it waits its turn for the row, empties the windows that are over,
 * and counts in all of them or in none. A quota is at least 1, so that a first request always has room. The time is the
 * database's, one for all processes; where it jumps back, the windows stand still until it has caught up.
 *
 * The commit does not wait for the disk: the row is held until then, and a busy account would be as slow as the disk. A
 * database that crashes may forget what was counted in its last moments.
 */
const COUNT = `
  INSERT INTO rate_windows AS kept (account_id, at, minute_used, hour_used, day_used, is_admitted)
  VALUES ($1, clock_timestamp(), 1, 1, 1, true)
  ON CONFLICT (account_id) DO UPDATE
     SET (at, minute_used, hour_used, day_used, is_admitted) = (
       SELECT GREATEST(kept.at, excluded.at), minute + has_room::integer, hour + has_room::integer,
              day + has_room::integer, has_room
         FROM (SELECT ${presentUse('minute')}, ${presentUse('hour')}, ${presentUse('day')}) AS present,
              LATERAL (SELECT COALESCE(minute < $2 AND hour < $3 AND day < $4, true) AS has_room) AS verdict)
  RETURNING at, minute_used AS minute, hour_used AS hour, day_used AS day, is_admitted AS "isAdmitted",
            set_config('synchronous_commit', 'off', true)`;

function presentUse(window: string): string {
  const startOf = (time: string): string => `date_trunc('${window}', ${time}, 'UTC')`;
  return `CASE WHEN ${startOf('kept.at')} < ${startOf('excluded.at')} THEN 0 ELSE kept.${window}_used END AS ${window}`;
}

/** Counts requests over all processes: one row per account, one statement per request. */
export class RateWindowsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Counts one request in every window, or in none when one has no room left. @throws when the database does not answer */
  async count(accountId: AccountId, quotas: RateQuotas): Promise<RateCount> {
    const parameters = [accountId, quotas.minute, quotas.hour, quotas.day];
    const [row] = await this.#database.read((manager) => manager.query<Row[]>(COUNT, parameters));
    if (row === undefined) throw new Error('a count gave no row');
    const { at, day, hour, isAdmitted, minute } = row;
    return { isAdmitted, nowMs: at.getTime(), used: { minute, hour, day } };
  }
}
