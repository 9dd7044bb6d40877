import type { Demand } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { expect, test } from '@jest/globals';
import { AccountEntity } from '../src/persistence/entities/index.js';
import { DECISIONS_MAX } from '../src/scaling-history/scaling-history.store.js';
import { useControlPlane } from './control-plane-bench.js';
import { INVENTORY } from './fleet-bench.js';
import { placedOf, recordPlaces } from './recorded-places.js';

const bench = useControlPlane();
const { fleet } = bench;

const FLAPPING = Array.from({ length: 300 }, (_, index) => `flapping-${index}`);
/** More in all than two passes place, so that no pass is through with them before the other account comes. */
const WORKERS_EACH = 3;
const CHANGES_AT_ONCE = 4;
/** Of one pass, as the plan has it. */
const PLACES_MAX = 200;
const HOSTS = ['h1', 'h2', 'h3'];
const FULL_HISTORY = 'flapping-0';

const query = (sql: string, values: readonly unknown[] = []): Promise<readonly Record<string, string>[]> =>
  fleet.source.query(sql, [...values]);

const lastPlace = async (): Promise<string> =>
  (await query('SELECT coalesce(max(at), 0) AS at FROM places'))[0]?.['at'] ?? '0';

/** What a PATCH of an endpoint's minimum and maximum leaves in its row, one transaction each. */
async function setWorkers(ids: readonly string[], { max, min }: { min: number; max: number }): Promise<void> {
  await inParallel(ids, CHANGES_AT_ONCE, async (id) => {
    await query(
      `UPDATE endpoints SET version = version + 1,
              spec = jsonb_set(jsonb_set(spec, '{workers,min}', to_jsonb($2::integer)),
                               '{workers,max}', to_jsonb($3::integer))
        WHERE id = $1`,
      [id, min, max],
    );
  });
}

/** As the account sends them: each endpoint wants its workers at once, and none of them a moment later. */
let turns = 0;
async function flap(): Promise<void> {
  turns += 1;
  const isUp = turns % 2 === 1;
  const [even, odd] = [FLAPPING.filter((_, index) => index % 2 === 0), FLAPPING.filter((_, index) => index % 2 === 1)];
  await setWorkers(even, isUp ? { min: WORKERS_EACH, max: WORKERS_EACH } : { min: 0, max: 0 });
  await setWorkers(odd, isUp ? { min: 0, max: 1 } : { min: WORKERS_EACH, max: WORKERS_EACH });
}

/** Some entries of before the flapping, as many as are kept. */
const fillHistory = (): Promise<unknown> =>
  query(
    `INSERT INTO scaling_decisions (endpoint_id, ordinal, at, desired_before, desired, reason, detail, inputs, outcome)
     SELECT $1, ordinal, $2, 0, 0, 'idle', '', '{}', '{}' FROM generate_series(1, $3::integer) AS ordinal`,
    [FULL_HISTORY, new Date(fleet.clock.nowMs()), DECISIONS_MAX],
  );

async function longestHistory(): Promise<{ readonly entries: number; readonly last: number }> {
  const [row] = await query(`SELECT max(entries) AS entries, max(last) AS last FROM (
    SELECT count(*) AS entries, max(ordinal) AS last FROM scaling_decisions GROUP BY endpoint_id) AS histories`);
  return { entries: Number(row?.['entries']), last: Number(row?.['last']) };
}

test('an account that changes hundreds of endpoints again and again delays the first worker of another by at most one pass', async () => {
  await fleet.source.getRepository(AccountEntity).insert({ id: 'modest', name: 'modest', createdAt: new Date(0) });
  for (const id of FLAPPING) await fleet.addEndpoint(id);
  await fleet.addEndpoint('one', {}, { accountId: 'modest' });
  await fillHistory();
  await recordPlaces(fleet.source);
  for (const hostId of HOSTS) await bench.addAgent(hostId, { ...INVENTORY, vcpus: 800, isOvercommitted: true });
  const one: Partial<Demand> = { queuedNormal: 1, oldestQueuedAtMs: 1 };
  const demand = Object.fromEntries(FLAPPING.map((id) => [id, one]));
  bench.demand = demand;
  await flap();
  await bench.startControllers('first');
  await bench.until(async () => {
    expect(Number(await lastPlace())).toBeGreaterThan(0);
  });

  const before = await lastPlace();
  bench.demand = { ...demand, one };
  await bench.until(async () => {
    await flap();
    expect(await placedOf(fleet.source, 'one')).toBe(1);
  });
  const meanwhile = await query(
    `SELECT count(*) AS workers, count(DISTINCT transaction) AS passes FROM places
      WHERE endpoint_id <> 'one' AND at > $1 AND at < (SELECT at FROM places WHERE endpoint_id = 'one')
      GROUP BY endpoint_id`,
    [before],
  );
  // The pass that was under way when the job came, and the one that sees it.
  for (const { passes } of meanwhile) expect(Number(passes)).toBeLessThanOrEqual(2);
  expect(meanwhile.reduce((sum, { workers }) => sum + Number(workers), 0)).toBeLessThanOrEqual(2 * PLACES_MAX);

  const { last } = await longestHistory();
  await bench.until(async () => {
    await flap();
    expect((await longestHistory()).last).toBeGreaterThan(last + 2);
  });
  expect((await longestHistory()).entries).toBe(DECISIONS_MAX);
  expect((await query(`SELECT count(*) FROM workers WHERE endpoint_id = 'one'`))[0]?.['count']).toBe('1');
});
