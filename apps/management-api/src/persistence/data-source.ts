import { DataSource } from 'typeorm';
import {
  AccountEntity,
  ApiKeyEntity,
  EndpointEntity,
  EndpointScalingEntity,
  HostEntity,
  JoinTokenEntity,
  ReleaseEntity,
  WorkerEntity,
} from './entities/index.js';
import { FirstTables1763700000000 } from './migrations/1763700000000-first-tables.js';

export interface DataSourceOptions {
  readonly url: string;
  /** Shown by PostgreSQL beside each connection. */
  readonly applicationName: string;
  readonly poolMax: number;
  /** Longest time of one statement; 10 s unless given. */
  readonly statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_DEFAULT_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 15_000;

/** The one database of the control plane. Not connected yet: `initialize()` does that. */
export const createDataSource = (options: DataSourceOptions): DataSource =>
  new DataSource({
    type: 'postgres',
    url: options.url,
    applicationName: options.applicationName,
    entities: [
      AccountEntity,
      ApiKeyEntity,
      EndpointEntity,
      EndpointScalingEntity,
      HostEntity,
      JoinTokenEntity,
      ReleaseEntity,
      WorkerEntity,
    ],
    migrations: [FirstTables1763700000000],
    migrationsTableName: 'schema_migrations',
    // The library's own console lines are no log lines of ours; what goes wrong is thrown.
    logger: 'debug',
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolSize: options.poolMax,
    extra: {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_DEFAULT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
    },
  });
