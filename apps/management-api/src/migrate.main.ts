import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { ConfigError, systemClock, systemRandom } from '@berth/lifecycle';
import { createLogger } from '@berth/telemetry';
import { loadMigrateConfig } from './config.js';
import {
  createDataSource,
  Database,
  migrate,
  openDataSource,
  waitUntilMigrated,
  type DataSourceOptions,
} from './persistence/index.js';
import { seedAccount } from './accounts/index.js';

/** One connection works, the other holds the lock. */
const POOL_MAX = 2;
/** For one statement, or for waiting until another process has migrated. */
const STATEMENT_MAX_MS = 10 * 60_000;

const WITHDRAWN =
  'account default: the first key was deleted or replaced once, and is not let in again; `berth init DIR --new-first-key` makes another';

const logger = createLogger({ name: 'migrate', level: 'info', format: 'auto' });

const tools = { clock: systemClock, random: systemRandom, logger };

const optionsFor = (url: string): DataSourceOptions => ({
  url,
  applicationName: 'berth-migrate',
  poolMax: POOL_MAX,
  statementTimeoutMs: STATEMENT_MAX_MS,
});

async function prepareDatabase(): Promise<void> {
  const { databaseUrl, seedKey } = loadMigrateConfig();
  const source = await openDataSource(optionsFor(databaseUrl), tools);
  try {
    const names = await migrate(source);
    for (const name of names) logger.info(`migrated: ${name}`);
    if (names.length === 0) logger.info('nothing to migrate');
    if (seedKey === null) return;
    const outcome = await seedAccount(new Database(source), seedKey, systemClock);
    if (outcome === 'set') logger.info('account default: key set');
    if (outcome === 'withdrawn') logger.warn(WITHDRAWN);
  } finally {
    await source.destroy();
  }
}

/** For those who may not start before the tables are there: somebody else makes them. */
async function awaitDatabase(): Promise<void> {
  const source = createDataSource(optionsFor(loadMigrateConfig().databaseUrl));
  try {
    await waitUntilMigrated(source, tools);
    logger.info('the database has the tables of this version');
  } finally {
    if (source.isInitialized) await source.destroy();
  }
}

try {
  const { values } = parseArgs({ options: { wait: { type: 'boolean' } } });
  await (values.wait === true ? awaitDatabase() : prepareDatabase());
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`migrate: ${error.message}\n`);
  else logger.fatal('the database could not be prepared', { error });
  process.exitCode = 1;
}
