import { expect, test } from '@jest/globals';
import type { HostId } from '@berth/domain';
import type { AgentConnection } from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { HostCutOff } from './host-cut-off.js';
import { hostSessionsMetrics } from '../host-sessions/index.js';

const connectionOf = (user: string, connectionId: number): AgentConnection => ({
  serverId: 'S',
  connectionId,
  user: user as HostId,
});

/** A broker with connections, some of which it does not end yet. */
class StubbornBroker {
  connections = [connectionOf('gone', 1), connectionOf('there', 2), connectionOf('gone', 3)];
  readonly stubborn = new Set<number>();
  isAway = false;

  async *pages(): AsyncIterable<readonly AgentConnection[]> {
    if (this.isAway) throw new Error('nobody answers');
    yield this.connections;
  }

  end({ connectionId }: AgentConnection): Promise<void> {
    if (this.stubborn.has(connectionId)) return Promise.reject(new Error('not now'));
    this.connections = this.connections.filter((each) => each.connectionId !== connectionId);
    return Promise.resolve();
  }
}

const start = (broker: StubbornBroker) => {
  const clock = new ManualClock();
  const registry = new MetricRegistry();
  const cutOff = new HostCutOff({
    connections: broker,
    store: { removed: (names) => Promise.resolve(names.filter((name) => name === ('gone' as HostId))) },
    metrics: hostSessionsMetrics(registry),
    clock,
    logger: silentLogger,
  });
  cutOff.start();
  return { clock, cutOff, registry };
};

test('a connection that could not be ended keeps no other, and is tried again', async () => {
  const broker = new StubbornBroker();
  broker.stubborn.add(1);
  const { clock, cutOff, registry } = start(broker);
  await letRun();
  expect(broker.connections).toEqual([connectionOf('gone', 1), connectionOf('there', 2)]);
  expect(await registry.text()).toContain('berth_management_host_cut_off_failures_total 1');
  broker.stubborn.clear();
  await clock.advance(5_000);
  await letRun();
  expect(broker.connections).toEqual([connectionOf('there', 2)]);
  expect(await registry.text()).toContain('berth_management_host_cut_offs_total 2');
  await cutOff.stop();
});

test('a broker that was away is asked again', async () => {
  const broker = new StubbornBroker();
  broker.isAway = true;
  const { clock, cutOff } = start(broker);
  await letRun();
  broker.isAway = false;
  await clock.advance(5_000);
  await letRun();
  expect(broker.connections).toEqual([connectionOf('there', 2)]);
  await cutOff.stop();
});

test('connections that end while others are still being read hide none of them', async () => {
  const broker = new StubbornBroker();
  broker.connections = [1, 2, 3, 4].map((id) => connectionOf('gone', id));
  // As the broker does it: the next page begins so many connections after the first one that there is then.
  broker.pages = async function* pages() {
    for (let offset = 0; offset < broker.connections.length; offset += 2) {
      yield broker.connections.slice(offset, offset + 2);
    }
  };
  const { cutOff } = start(broker);
  await letRun();
  expect(broker.connections).toEqual([]);
  await cutOff.stop();
});
