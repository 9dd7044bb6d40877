import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { Confinement } from './confinement.js';
import { FirewallError, type Firewall } from './firewall.js';

const BRIDGE = { address: '127.0.0.1', port: 8_010 };

/** The engine is in a virtual machine: its network, and what goes through it, is out of this machine's sight. */
function elsewhere(isRequired: boolean) {
  const calls: string[] = [];
  const firewall: Firewall = {
    read: async () => [],
    put: async ({ chain }) => {
      calls.push(chain);
      return [];
    },
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
  expect(await metrics.text()).toMatch(/^berth_agent_workers_confined 0$/m);
  expect(calls).toEqual([]);
  await confinement.close();
});

test('where the operator accepts that nothing confines them, it is told all the same', async () => {
  const { confinement, metrics } = elsewhere(false);
  await confinement.raise(BRIDGE);
  await confinement.ensure();
  expect(confinement.obstacle).toContain("the engine's network is not on this machine");
  expect(await metrics.text()).toMatch(/^berth_agent_workers_confined 0$/m);
  await confinement.close();
});

describe('the machine', () => {
  const NETWORK = {
    name: 'n',
    interfaceName: 'berthw-1',
    gateway: '172.18.0.1',
    subnet: '172.18.0.0/16',
    isHere: true,
  };

  /** A firewall that knows no rule which names this word. */
  function firewallWithout(word?: string) {
    const fences = new Map<string, readonly string[]>();
    const firewall: Firewall = {
      read: async ({ chain }) => fences.get(chain) ?? [],
      put: async ({ chain, hooks, rules }) => {
        if (word !== undefined && rules.some((rule) => rule.includes(word))) {
          throw new FirewallError(`Extension ${word} is not supported`);
        }
        const lines = [hooks.join(), ...rules];
        fences.set(chain, lines);
        return lines;
      },
      remove: async ({ chain }) => void fences.delete(chain),
    };
    return { firewall, fences };
  }

  function confinementOn(
    ipv4: Firewall,
    more: { readonly ipv6?: Firewall; readonly hidden?: string; readonly metrics?: MetricRegistry } = {},
  ) {
    return new Confinement({
      policy: { isRequired: true, blockedNetworks: ['10.0.0.0/8'], allowedNetworks: [], nameServers: [] },
      network: async () => NETWORK,
      firewalls: { ipv4, ipv6: more.ipv6 ?? null },
      areBridgedPacketsShown: async (file) => !file.endsWith(more.hidden ?? 'none'),
      clock: new ManualClock(),
      logger: silentLogger,
      metrics: more.metrics ?? new MetricRegistry(),
    });
  }

  test('that can count bounds the connections of each container, and counts each once', async () => {
    const { firewall, fences } = firewallWithout();
    const confinement = confinementOn(firewall);
    await confinement.raise(BRIDGE);
    const [hooks, ...rules] = fences.get('BERTH-1-COUNT') ?? [];
    expect(hooks).toBe('PREROUTING');
    expect(rules).toEqual([
      expect.stringMatching(/--syn -m hashlimit .*--hashlimit-mode srcip .* -j DROP$/),
      expect.stringMatching(/^-m conntrack --ctstate NEW -m connlimit --connlimit-above 4096 .* -j DROP$/),
      expect.stringMatching(/^-d 127.0.0.1 .*--dport 8010 --syn -m connlimit --connlimit-above 1024 .* -j DROP$/),
    ]);
    expect(confinement.notes).toEqual([]);
    await confinement.lower();
    expect(fences.size).toBe(0);
  });

  test.each(['connlimit', 'hashlimit'])('without %s confines its workers all the same, and says so', async (word) => {
    const { firewall, fences } = firewallWithout(word);
    const confinement = confinementOn(firewall);
    await confinement.raise(BRIDGE);
    await confinement.ensure();
    expect([...fences.keys()]).toEqual(['BERTH-1']);
    expect(fences.get('BERTH-1')).toContain('-d 10.0.0.0/8 -j DROP');
    expect(confinement.obstacle).toBeNull();
    expect(confinement.notes).toEqual([expect.stringMatching(/^How many connections .* is not bounded/)]);
    await confinement.close();
  });

  test('that stops counting is not confined: that is no lack of a module', async () => {
    const { firewall, fences } = firewallWithout();
    let isRefusing = false;
    const put: Firewall['put'] = async (fence) => {
      if (isRefusing) throw new FirewallError('no');
      return firewall.put(fence);
    };
    const confinement = confinementOn({ ...firewall, put });
    await confinement.raise(BRIDGE);
    fences.set('BERTH-1-COUNT', []);
    isRefusing = true;
    await expect(confinement.ensure()).rejects.toMatchObject({ reason: 'runtime-unavailable' });
    await confinement.close();
  });

  test('whose rules somebody changed has them back once, however many look at the same time', async () => {
    const { firewall, fences } = firewallWithout();
    const metrics = new MetricRegistry();
    const confinement = confinementOn(firewall, { metrics });
    await confinement.raise(BRIDGE);
    fences.set('BERTH-1', []);
    await Promise.all([confinement.raise(BRIDGE), confinement.ensure(), confinement.ensure()]);
    expect(fences.get('BERTH-1')).toContain('-d 10.0.0.0/8 -j DROP');
    expect(await metrics.text()).toMatch(/^berth_agent_confinement_repairs_total 1$/m);
    await confinement.close();
  });

  test('whose rules are gone again at the moment in which they are put back has them back at the next look', async () => {
    const { firewall, fences } = firewallWithout();
    let isFlushed = false;
    const put: Firewall['put'] = async (fence) => {
      const lines = await firewall.put(fence);
      if (isFlushed) fences.set(fence.chain, []);
      return lines;
    };
    const confinement = confinementOn({ ...firewall, put });
    await confinement.raise(BRIDGE);
    const whole = fences.get('BERTH-1');
    fences.set('BERTH-1', []);
    isFlushed = true;
    await confinement.ensure();
    isFlushed = false;
    await confinement.ensure();
    expect(fences.get('BERTH-1')).toEqual(whole);
    await confinement.close();
  });

  test('whose firewall refuses everything does not start workers', async () => {
    const confinement = confinementOn(firewallWithout('DROP').firewall);
    await expect(confinement.raise(BRIDGE)).rejects.toMatchObject({ reason: 'runtime-unavailable' });
    await confinement.close();
  });

  test.each(['bridge-nf-call-iptables', 'bridge-nf-call-ip6tables'])(
    'that hides packets between containers (%s) does not start workers',
    async (hidden) => {
      const confinement = confinementOn(firewallWithout().firewall, { hidden, ipv6: firewallWithout().firewall });
      await expect(confinement.raise(BRIDGE)).rejects.toMatchObject({
        message: expect.stringContaining(`set /proc/sys/net/bridge/${hidden} to 1`) as unknown,
      });
      await confinement.close();
    },
  );

  test('without IPv6 need not show any packets of it', async () => {
    const confinement = confinementOn(firewallWithout().firewall, { hidden: 'bridge-nf-call-ip6tables' });
    await confinement.raise(BRIDGE);
    expect(confinement.obstacle).toBeNull();
    await confinement.close();
  });
});
