import { AsyncLocalStorage } from 'node:async_hooks';
import { PlatformError } from '@berth/domain';
import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  type DataSource,
  type EntityManager,
} from 'typeorm';
import type { Transactions } from './transactions.port.js';

/** SQLSTATE classes and codes that mean "not now": connection, resources, operator intervention, lost races. */
const TEMPORARY = /^(08|53|57|58)|^(40001|40P01|55P03|25P03)$/;
const CONNECTION_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
]);
/** Texts of the driver for errors that it gives no code. */
const CONNECTION_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/;
/** Answers of a connection that ended while no statement waited for it: between two of a transaction. */
const RELEASED = [QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError];

const RETRY_AFTER_SECONDS = 2;

interface Ambient {
  readonly manager: EntityManager;
  readonly afterCommit: (() => Promise<void> | void)[];
}

/**
 * The database as the stores use it: an outage is a `service-unavailable` that passes, never a defect of ours. Inside a
 * transaction everything takes part in it, on its one connection: a request that needed a second one while it holds the
 * first could wait for itself.
 */
export class Database implements Transactions {
  readonly #source: DataSource;
  /** The transaction that the running code is in. */
  readonly #ambient = new AsyncLocalStorage<Ambient>();

  constructor(source: DataSource) {
    this.#source = source;
  }

  /** @throws PlatformError `service-unavailable` */
  read<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    return translated(() => action(this.#ambient.getStore()?.manager ?? this.#source.manager));
  }

  /** Reads that belong together, as of one instant; on a connection of their own. @throws PlatformError `service-unavailable` */
  snapshot<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    return translated(() => this.#source.transaction('REPEATABLE READ', action));
  }

  /** All or nothing; inside another transaction a part of that one. @throws PlatformError `service-unavailable` */
  transaction<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.#ambient.getStore();
    return outer === undefined ? this.#begin(action) : action(outer.manager);
  }

  run<T>(action: () => Promise<T>): Promise<T> {
    return this.transaction(action);
  }

  afterCommit(action: () => Promise<void> | void): void {
    const ambient = this.#ambient.getStore();
    if (ambient === undefined) void action();
    else ambient.afterCommit.push(action);
  }

  /** @throws PlatformError when it does not answer */
  async ping(): Promise<void> {
    await this.read((manager) => manager.query('SELECT 1'));
  }

  /** True while there is a migration that has not been run. */
  async isBehind(): Promise<boolean> {
    return translated(() => this.#source.showMigrations());
  }

  async #begin<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    const afterCommit: Ambient['afterCommit'] = [];
    const result = await translated(() =>
      this.#source.transaction((manager) => this.#ambient.run({ manager, afterCommit }, () => action(manager))),
    );
    await Promise.all(afterCommit.map(async (each) => each()));
    return result;
  }
}

async function translated<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw isTemporary(error) ? unavailable(error) : error;
  }
}

const unavailable = (cause: unknown): PlatformError =>
  new PlatformError('service-unavailable', 'The database does not answer at the moment; try again.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

function isTemporary(error: unknown): boolean {
  if (error instanceof PlatformError) return false;
  if (RELEASED.some((released) => error instanceof released)) return true;
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (typeof cause !== 'object' || cause === null) return false;
  const code = 'code' in cause ? cause.code : undefined;
  if (typeof code === 'string') return CONNECTION_CODES.has(code) || TEMPORARY.test(code);
  return 'message' in cause && CONNECTION_TEXT.test(String(cause.message));
}
