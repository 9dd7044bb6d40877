import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { usePostgres } from '@berth/testing/servers';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../src/persistence/data-source.js';
import { Database } from '../src/persistence/database.js';

const STATEMENT_MS = 1_000;
const CONNECT_MS = 5_000;
/** What a busy machine may add. */
const SLACK_MS = 20_000;

const postgres = usePostgres();
let url = '';
let source: DataSource;
let database: Database;
/** Not limited in time: it holds what the others wait for. */
let bystander: DataSource;

beforeAll(async () => {
  url = await postgres.freshDatabase();
  const setup = await createDataSource({ url, applicationName: 'test', poolMax: 1 }).initialize();
  await setup.query('CREATE TABLE things (id integer PRIMARY KEY, owner text)');
  await setup.query(`INSERT INTO things VALUES (1, 'nobody')`);
  await setup.destroy();
});

beforeEach(async () => {
  const options = { url, applicationName: 'test', poolMax: 2, statementTimeoutMs: STATEMENT_MS };
  source = await createDataSource(options).initialize();
  database = new Database(source);
  bystander = await createDataSource({ url, applicationName: 'bystander', poolMax: 1 }).initialize();
});

afterEach(async () => {
  await source.destroy();
  await bystander.destroy();
});

const claim = (owner: string): Promise<unknown> =>
  database.read((manager) => manager.query('UPDATE things SET owner = $1 WHERE id = 1', [owner]));

const backendPid = async (): Promise<number> => {
  const [row] = await database.read((manager) => manager.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid'));
  if (row === undefined) throw new Error('there is no backend');
  return row.pid;
};

/** How an action failed, and after how many ms. */
async function failure(action: Promise<unknown>): Promise<{ code: unknown; cause: string; tookMs: number }> {
  const startedMs = systemClock.monotonicMs();
  const error = await action.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown as Error & { code?: string },
  );
  const tookMs = systemClock.monotonicMs() - startedMs;
  return { code: 'code' in error ? error.code : error.message, cause: String(error.cause), tookMs };
}

/** The database is usable again, with no half of an earlier transaction in it. */
const isWell = (owner = 'nobody'): Promise<void> =>
  eventually(async () => {
    const rows = await database.read((manager) => manager.query('SELECT owner FROM things'));
    expect(rows).toEqual([{ owner }]);
  });

describe('is told as an outage that passes', () => {
  test.each(['the next statement', 'the commit'])('a connection that ends before %s', async (next) => {
    const failed = await failure(
      database.run(async () => {
        await claim('me');
        const pid = await backendPid();
        await bystander.query('SELECT pg_terminate_backend($1)', [pid]);
        await eventually(async () => {
          expect(await bystander.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid])).toEqual([]);
        });
        if (next === 'the next statement') await claim('me again');
      }),
    );
    expect(failed).toMatchObject({ code: 'service-unavailable' });
    await isWell();
  });

  test('a row that another holds for longer than half a statement may take', async () => {
    const holder = bystander.createQueryRunner();
    await holder.startTransaction();
    await holder.query('SELECT 1 FROM things WHERE id = 1 FOR UPDATE');
    const { cause, code, tookMs } = await failure(claim('me'));
    expect(code).toBe('service-unavailable');
    expect(cause).toContain('lock timeout');
    expect(tookMs).toBeLessThan(STATEMENT_MS / 2 + SLACK_MS);
    await holder.rollbackTransaction();
    await holder.release();
    await isWell();
  });

  test('a statement that takes too long', async () => {
    const sleep = database.read((manager) => manager.query('SELECT pg_sleep(30)'));
    const { cause, code, tookMs } = await failure(sleep);
    expect(code).toBe('service-unavailable');
    expect(cause).toContain('statement timeout');
    expect(tookMs).toBeLessThan(STATEMENT_MS + SLACK_MS);
    await isWell();
  });

  test('a pool with no connection left', async () => {
    const small = await createDataSource({ url, applicationName: 'small', poolMax: 1 }).initialize();
    const holder = small.createQueryRunner();
    await holder.connect();
    const { cause, code, tookMs } = await failure(new Database(small).ping());
    expect(code).toBe('service-unavailable');
    expect(cause).toContain('timeout exceeded when trying to connect');
    expect(tookMs).toBeLessThan(CONNECT_MS + SLACK_MS);
    await holder.release();
    await new Database(small).ping();
    await small.destroy();
  });

  test('a server that is there and says nothing', async () => {
    let pid = 0;
    const { code, tookMs } = await failure(
      database.run(async () => {
        await claim('me');
        pid = await backendPid();
        process.kill(pid, 'SIGSTOP');
        await claim('me again');
      }),
    );
    expect(code).toBe('service-unavailable');
    expect(tookMs).toBeLessThan(2 * STATEMENT_MS + SLACK_MS);
    process.kill(pid, 'SIGCONT');
    await isWell();
  });
});
