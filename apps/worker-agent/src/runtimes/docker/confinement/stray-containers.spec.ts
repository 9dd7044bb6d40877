import type { HostId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { expect, test } from '@jest/globals';
import type Dockerode from 'dockerode';
import { removeStrays } from './stray-containers.js';

const NETWORK = {
  name: 'berth-h1',
  interfaceName: 'berthw-1',
  gateway: '172.18.0.1',
  subnet: '172.18.0.0/16',
  isHere: true,
};

const containerOf = (id: string, network: string, more: object = {}): object => ({
  Id: id,
  State: 'running',
  HostConfig: { NetworkMode: network },
  NetworkSettings: { Networks: { [network]: {} } },
  Labels: { 'berth.host': 'h1', 'berth.worker': `w-${id}`, 'berth.endpoint': 'e1', 'berth.release': '1' },
  ...more,
});

test('workers that ran outside of the network are told before their containers go, so that no job pays for it', async () => {
  const calls: unknown[] = [];
  const containers = [
    containerOf('a', 'berth-h1'),
    containerOf('b', 'bridge'),
    containerOf('c', 'bridge', { State: 'exited' }),
    containerOf('d', 'berth-h1', { NetworkSettings: { Networks: { 'berth-h1': {}, other: {} } } }),
    containerOf('e', 'bridge', { Labels: { 'berth.host': 'h1' } }),
  ];
  const engine = {
    listContainers: async () => containers,
    getContainer: (id: string) => ({ remove: async () => void calls.push(`remove ${id}`) }),
  } as unknown as Dockerode;
  await removeStrays(engine, {
    hostId: 'h1' as HostId,
    network: NETWORK,
    logger: silentLogger,
    onRemoving: async (removed) => void calls.push(removed),
  });
  expect(calls).toEqual([
    [
      { workerId: 'w-b', containerId: 'b' },
      { workerId: 'w-d', containerId: 'd' },
    ],
    'remove b',
    'remove c',
    'remove d',
    'remove e',
  ]);
});
