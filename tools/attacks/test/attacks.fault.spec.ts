import { TenantClient } from '@berth/dev-stack';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Attackers } from '../src/attackers.js';
import { prepareBattlefield, type Battlefield } from '../src/battlefield.js';

const SUITE_MS = 600_000;
const WARM_UP_MS = 2_000;
/** The bench lets them loose for five minutes and tells what it costs the victim (`npm run bench attacks`). */
const ATTACKS_MS = 45_000;

interface HostList {
  readonly hosts: readonly { readonly name: string; readonly status: string }[];
}

describe('a victim beside a hostile tenant, hostile workers on its own host and a stolen host', () => {
  let battlefield: Battlefield;

  beforeAll(async () => {
    battlefield = await prepareBattlefield();
  }, SUITE_MS);

  afterAll(() => battlefield.clear(), SUITE_MS);

  test(
    'has every job accepted and completed while all attacks run together',
    async () => {
      const { stack, target, victim } = battlefield;
      await victim.endsOf((await victim.submitFor(WARM_UP_MS)).jobIds);
      const attackers = Attackers.start(target);
      const { jobIds, refusals } = await victim.submitFor(ATTACKS_MS);
      const report = await attackers.stop();
      expect(refusals).toEqual({});
      expect(await victim.endsOf(jobIds)).toEqual({ COMPLETED: jobIds.length });
      // Each attack really took place, and none ran into an error of its own.
      expect(
        Object.values(report).flatMap((counts) => Object.keys(counts).filter((what) => /gave up/.test(what))),
      ).toEqual([]);
      expect(report.announceWithoutKey.opened).toBeGreaterThan(50);
      expect(report.announceWithKey.opened).toBeGreaterThan(20);
      expect(report.unfinishedHeaders.opened).toBeGreaterThan(50);
      expect(report.costlyJson['answered 200']).toBeGreaterThan(0);
      expect(Object.keys(report.randomKeys)).not.toContain('answered 200');
      expect(report.hostileWorkers['brackets 200']).toBeGreaterThan(0);
      expect(report.stolenHost['refused by broker']).toBeGreaterThan(0);
      const operator = new TenantClient(() => stack.dev);
      const { body } = await operator.manage<HostList>('GET', '/v2/hosts');
      expect(body.hosts).toHaveLength(2);
    },
    SUITE_MS,
  );
});
