import type { IdempotentRequest, KeptAnswer } from '@berth/http';
import { QueryFailedError, type EntityManager } from 'typeorm';
import { PlatformError } from '@berth/domain';
import type { Database } from '../persistence/index.js';

/** The use that was made of a key. The hash of the request and the body of its answer are sealed as one text. */
export interface UsedKey extends Omit<KeptAnswer, 'body'> {
  readonly sealed: string;
}

const LOCK_NOT_AVAILABLE = '55P03';

/** Waits for a transaction that has the key, by the primary key. A row whose time is over is taken like a free one. */
const TAKE = `
  INSERT INTO idempotency_keys AS kept (account_id, route, key, expires_at)
  VALUES ($1, $2, $3, now() + make_interval(secs => $4))
  ON CONFLICT (account_id, route, key) DO UPDATE
     SET status = NULL, sealed = NULL, tag = NULL, expires_at = excluded.expires_at
   WHERE kept.expires_at <= now()
  RETURNING key`;

const READ = `
  SELECT status, tag, sealed FROM idempotency_keys WHERE account_id = $1 AND route = $2 AND key = $3`;

const COMPLETE = `
  UPDATE idempotency_keys SET status = $4, tag = $5, sealed = $6 WHERE account_id = $1 AND route = $2 AND key = $3`;

const PRUNE = `
  DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))`;

/**
 * The idempotency keys, of which each lets one request be carried out. Everything but `prune` belongs into the
 * transaction of the request.
 */
export class IdempotencyKeysStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Takes the key for this request until the transaction ends, and waits while another transaction has it. Null: it is
   * taken; otherwise what it was used for.
   *
   * @throws PlatformError `idempotency-in-progress` when the other transaction does not end within `waitMs`
   */
  take(
    request: IdempotentRequest,
    { keptMs, waitMs }: { readonly waitMs: number; readonly keptMs: number },
  ): Promise<UsedKey | null> {
    return this.#database.transaction(async (manager) => {
      await manager.query(`SELECT set_config('lock_timeout', $1, true)`, [`${waitMs}ms`]);
      const taken = await inTime(manager.query<unknown[]>(TAKE, [...nameOf(request), keptMs / 1_000]));
      if (taken.length > 0) return null;
      const [used] = await manager.query<UsedKey[]>(READ, nameOf(request));
      if (used === undefined) throw new Error('an idempotency key is neither free nor used');
      return used;
    });
  }

  /** Keeps what the key that was taken was used for. */
  complete(request: IdempotentRequest, { sealed, status, tag }: UsedKey): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await manager.query(COMPLETE, [...nameOf(request), status, tag, sealed]);
    });
  }

  /** Forgets keys whose time is over, at most so many. Returns their number. */
  prune(max: number): Promise<number> {
    return this.#database.read(async (manager: EntityManager) => {
      const [, count] = await manager.query<[unknown, number]>(PRUNE, [max]);
      return count;
    });
  }
}

const nameOf = ({ accountId, key, route }: IdempotentRequest): string[] => [accountId, route, key];

/** @throws PlatformError `idempotency-in-progress` when the lock was not to be had */
async function inTime<T>(taking: Promise<T>): Promise<T> {
  try {
    return await taking;
  } catch (error) {
    if (!(error instanceof QueryFailedError)) throw error;
    const { code } = error.driverError as { readonly code?: string };
    if (code !== LOCK_NOT_AVAILABLE) throw error;
    throw new PlatformError(
      'idempotency-in-progress',
      'The first request with this Idempotency-Key is still under way.',
      {
        cause: error,
      },
    );
  }
}
