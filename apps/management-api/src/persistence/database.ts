import { PlatformError } from '@berth/domain';
import { QueryFailedError, type DataSource, type EntityManager } from 'typeorm';

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

const RETRY_AFTER_SECONDS = 2;

/** The database as the stores use it: an outage is a `service-unavailable` that passes, never a defect of ours. */
export class Database {
  readonly #source: DataSource;

  constructor(source: DataSource) {
    this.#source = source;
  }

  /** @throws PlatformError `service-unavailable` */
  read<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    return translated(() => action(this.#source.manager));
  }

  /** Reads that belong together, as of one instant. @throws PlatformError `service-unavailable` */
  snapshot<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    return translated(() => this.#source.transaction('REPEATABLE READ', action));
  }

  /** All or nothing. @throws PlatformError `service-unavailable` */
  transaction<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    return translated(() => this.#source.transaction(action));
  }

  /** @throws PlatformError when it does not answer */
  async ping(): Promise<void> {
    await this.read((manager) => manager.query('SELECT 1'));
  }

  /** True while there is a migration that has not been run. */
  async isBehind(): Promise<boolean> {
    return translated(() => this.#source.showMigrations());
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
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  if (typeof cause !== 'object' || cause === null) return false;
  const code = 'code' in cause ? cause.code : undefined;
  if (typeof code === 'string') return CONNECTION_CODES.has(code) || TEMPORARY.test(code);
  return 'message' in cause && CONNECTION_TEXT.test(String(cause.message));
}
