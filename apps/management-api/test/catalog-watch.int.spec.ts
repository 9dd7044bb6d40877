import { ManualClock, eventually } from '@berth/testing';
import { MetricRegistry, silentLogger, type Logger } from '@berth/telemetry';
import { afterEach, expect, test } from '@jest/globals';
import { CatalogWatch } from '../src/catalog-file/catalog-watch.js';
import { RunningCatalogsStore, type RunningCatalog } from '../src/catalog-file/running-catalogs.store.js';
import { Database } from '../src/persistence/database.js';
import { useFleetBench } from './fleet-bench.js';

const bench = useFleetBench();
const INTERVAL_MS = 30_000;
const FILE = '/etc/berth/catalog.json';
const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];

interface Running {
  readonly lines: string[];
  readonly watch: CatalogWatch;
  readonly clock: ManualClock;
  differences(): Promise<string | undefined>;
}

const watches: CatalogWatch[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) await watch.stop();
});

function run(app: string, own: Omit<RunningCatalog, 'app'>): Running {
  const lines: string[] = [];
  const note = (message: string): void => {
    lines.push(message);
  };
  const logger: Logger = { ...silentLogger, info: note, warn: note };
  const [metrics, clock] = [new MetricRegistry(), new ManualClock()];
  const store = new RunningCatalogsStore(new Database(bench.source));
  const watch = new CatalogWatch({ own: { ...own, app }, store, clock, logger, metrics });
  watches.push(watch);
  watch.start();
  const differences = async (): Promise<string | undefined> =>
    /^\w+_catalog_differences (\d+)$/m.exec(await metrics.text())?.[1];
  return { lines, watch, clock, differences };
}

const processes = async (): Promise<readonly string[]> =>
  (await bench.source.query<{ process: string }[]>('SELECT process FROM running_catalogs ORDER BY process')).map(
    ({ process }) => process,
  );

/** Lets time pass until the assertions hold: what was said once is not said again. */
const turn = (clock: ManualClock, check: () => Promise<void> | void): Promise<void> =>
  eventually(async () => {
    await clock.advance(INTERVAL_MS);
    await check();
  });

async function untilSaid(process: string): Promise<void> {
  await eventually(async () => {
    expect(await processes()).toContain(process);
  });
}

test('processes with different catalogs warn of each other, once, name both, and say when it is over', async () => {
  const api = run('management-api', { process: 'api', digest: A, file: FILE });
  await untilSaid('api');
  const controllers = run('controllers', { process: 'controllers', digest: B, file: null });
  const warning =
    'hardware catalogs differ: the shipped one of controllers is not that of /etc/berth/catalog.json of management-api; start both with the same BERTH_CATALOG_FILE';
  await eventually(async () => {
    expect(controllers.lines).toEqual([warning]);
    expect(await controllers.differences()).toBe('1');
  });
  await turn(api.clock, async () => {
    expect(api.lines).toEqual([expect.stringContaining('/etc/berth/catalog.json of management-api is not that of')]);
    expect(await api.differences()).toBe('1');
  });

  await controllers.watch.stop();
  const again = run('controllers', { process: 'again', digest: A, file: FILE });
  await untilSaid('again');
  await turn(api.clock, async () => {
    expect(api.lines.slice(1)).toEqual(['all run with the same hardware catalog again']);
    expect(await api.differences()).toBe('0');
  });
  expect(again.lines).toEqual([]);
  expect(await processes()).toEqual(['again', 'api']);
});

test('a process that ended without a word is forgotten', async () => {
  await bench.source.query(
    `INSERT INTO running_catalogs (process, app, digest, said_at)
     VALUES ('killed', 'controllers', $1, now() - make_interval(secs => $2))`,
    [B, (3 * INTERVAL_MS) / 1_000 + 1],
  );
  const api = run('management-api', { process: 'api', digest: A, file: null });
  await eventually(async () => {
    expect(await processes()).toEqual(['api']);
    expect(await api.differences()).toBe('0');
  });
  expect(api.lines).toEqual([]);
});

test('a database that is away for a while is asked again', async () => {
  await bench.source.query('ALTER TABLE running_catalogs RENAME TO away');
  const api = run('management-api', { process: 'api', digest: A, file: null });
  await eventually(() => {
    expect(api.lines).toEqual(['control loop catalog.watch failed; it runs again']);
  });
  await bench.source.query('ALTER TABLE away RENAME TO running_catalogs');
  await turn(api.clock, async () => {
    expect(await processes()).toEqual(['api']);
  });
});
