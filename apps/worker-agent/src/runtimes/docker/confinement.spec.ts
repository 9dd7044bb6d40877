import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { Confinement } from './confinement.js';
import type { Firewall } from './firewall.js';

const BRIDGE = { address: '127.0.0.1', port: 8_010 };

/** The engine is in a virtual machine: its network, and what goes through it, is out of this machine's sight. */
function elsewhere(isRequired: boolean) {
  const calls: string[] = [];
  const firewall: Firewall = {
    read: async () => [],
    put: async ({ chain }) => void calls.push(chain),
    remove: async ({ chain }) => void calls.push(chain),
  };
  const metrics = new MetricRegistry();
  const network = { name: 'berth-h', interfaceName: 'berthw-1', gateway: '172.18.0.1', subnet: '172.18.0.0/16' };
  const confinement = new Confinement({
    policy: { isRequired, blockedNetworks: [], allowedNetworks: [], nameServers: [] },
    network: async () => ({ ...network, isHere: false }),
    firewalls: { ipv4: firewall, ipv6: null },
    clock: new ManualClock(),
    logger: silentLogger,
    metrics,
  });
  return { calls, confinement, metrics };
}

test('where nothing can confine containers, none may be started', async () => {
  const { calls, confinement, metrics } = elsewhere(true);
  await expect(confinement.raise(BRIDGE)).rejects.toMatchObject({
    reason: 'runtime-unavailable',
    message: expect.stringMatching(
      /cannot be confined here: .*in a virtual one.*BERTH_CONFINEMENT=optional/,
    ) as unknown,
  });
  await expect(confinement.ensure()).rejects.toMatchObject({ reason: 'runtime-unavailable' });
  expect(await metrics.text()).toMatch(/^agent_workers_confined 0$/m);
  expect(calls).toEqual([]);
  await confinement.close();
});

test('where the operator accepts that nothing confines them, it is told all the same', async () => {
  const { confinement, metrics } = elsewhere(false);
  await confinement.raise(BRIDGE);
  await confinement.ensure();
  expect(confinement.obstacle).toContain("the engine's network is not on this machine");
  expect(await metrics.text()).toMatch(/^agent_workers_confined 0$/m);
  await confinement.close();
});
