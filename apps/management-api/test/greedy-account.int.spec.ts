import { expect, test } from '@jest/globals';
import { AccountEntity } from '../src/persistence/entities/index.js';
import { useControlPlane } from './control-plane-bench.js';
import { INVENTORY, SPEC } from './fleet-bench.js';
import { placedOf, recordPlaces } from './recorded-places.js';

const bench = useControlPlane();
const { fleet } = bench;

const WORKERS = 1_000;
/** Of one pass, as the plan has it. */
const PLACES_MAX = 200;
const HOSTS = ['h1', 'h2', 'h3'];

const query = (sql: string, values: readonly unknown[] = []): Promise<readonly Record<string, string>[]> =>
  fleet.source.query(sql, [...values]);

test('one account that wants a thousand workers delays the first worker of another by at most one pass', async () => {
  await fleet.source.getRepository(AccountEntity).insert({ id: 'modest', name: 'modest', createdAt: new Date(0) });
  await fleet.addEndpoint('many', { workers: { ...SPEC.workers, max: WORKERS } });
  await fleet.addEndpoint('one', {}, { accountId: 'modest' });
  await recordPlaces(fleet.source);
  for (const hostId of HOSTS) await bench.addAgent(hostId, { ...INVENTORY, vcpus: 800, isOvercommitted: true });
  await bench.startControllers('first');
  const many = { queuedNormal: WORKERS, oldestQueuedAtMs: 1 };
  bench.demand = { many };
  await bench.until(async () => {
    expect(await placedOf(fleet.source, 'many')).toBeGreaterThan(0);
  });

  const [before] = await query('SELECT max(at) AS at FROM places');
  bench.demand = { many, one: { queuedNormal: 1, oldestQueuedAtMs: 1 } };
  await bench.until(async () => {
    expect(await placedOf(fleet.source, 'one')).toBe(1);
  });
  const [meanwhile] = await query(
    `SELECT count(*) AS workers, count(DISTINCT transaction) AS passes FROM places
      WHERE endpoint_id = 'many' AND at > $1 AND at < (SELECT at FROM places WHERE endpoint_id = 'one')`,
    [before?.['at']],
  );
  // The pass that was under way when the job came, and the one that sees it.
  expect(Number(meanwhile?.['passes'])).toBeLessThanOrEqual(2);
  expect(Number(meanwhile?.['workers'])).toBeLessThanOrEqual(2 * PLACES_MAX);

  await bench.until(async () => {
    expect(await placedOf(fleet.source, 'many')).toBe(WORKERS);
  });
  const passes = await query(`SELECT count(*) AS workers FROM places WHERE endpoint_id = 'many' GROUP BY transaction`);
  for (const { workers } of passes) expect(Number(workers)).toBeLessThanOrEqual(PLACES_MAX);
});
