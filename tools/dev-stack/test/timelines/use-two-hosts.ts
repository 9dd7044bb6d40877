import type { ContainerEngineFixture } from '@berth/testing/containers';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { TenantClient } from '../../src/tenant-client.js';
import { Scenario, type Beginning } from './scenario.js';
import { TwoHosts } from './two-hosts.js';

export interface TwoHostsFixture {
  readonly hosts: TwoHosts;
  /** A scenario on hosts that have no worker yet; its endpoint is removed after the test. The client: the operator's without. */
  readonly begin: (beginning: Beginning, client?: TenantClient) => Promise<Scenario>;
}

/** Two hosts for all tests of a spec, which are empty and ready before each. Nest it below the engine's own hooks. */
export function useTwoHosts(engine: ContainerEngineFixture): TwoHostsFixture {
  let opened: TwoHosts | undefined;
  const begun: Scenario[] = [];
  const hosts = (): TwoHosts => {
    if (opened === undefined) throw new Error('The hosts start in beforeAll.');
    return opened;
  };
  beforeAll(async () => {
    opened = await TwoHosts.open(engine.engine);
  });
  afterEach(async () => {
    await Promise.all(begun.splice(0).map((scenario) => scenario.remove()));
    await hosts().settle();
  });
  afterAll(() => opened?.close());
  return {
    get hosts() {
      return hosts();
    },
    async begin(beginning, client = hosts().operator) {
      const scenario = await Scenario.begin(client, beginning);
      begun.push(scenario);
      return scenario;
    },
  };
}
