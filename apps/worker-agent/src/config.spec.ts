import { ConfigError } from '@berth/lifecycle';
import { describe, expect, test } from '@jest/globals';
import { loadAgentConfig } from './config.js';

const NATS = { BERTH_NATS_URL: 'nats://127.0.0.1:4222' };

describe('loadAgentConfig', () => {
  test('needs nothing but the broker’s address', () => {
    expect(loadAgentConfig(NATS)).toMatchObject({
      runtime: {
        kind: 'docker',
        engines: [{ address: { kind: 'socket', path: '/var/run/docker.sock' } }, { source: 'Podman' }],
        confinement: { isRequired: true, allowedNetworks: [], nameServers: null },
      },
      bridge: { listenHost: null, port: 0, advertisedHost: 'berth-host' },
      keepsWorkers: true,
      vcpus: null,
      simulatedGpus: null,
      joinToken: { token: null, file: null },
    });
  });

  test('keeps the bridge of processes on this machine', () => {
    const { bridge } = loadAgentConfig({ ...NATS, BERTH_RUNTIME: 'process', BERTH_BRIDGE_PORT: '8005' });
    expect(bridge).toEqual({ listenHost: '127.0.0.1', port: 8005, advertisedHost: '127.0.0.1' });
  });

  test('has the folder of network volumes as a whole path, or none', () => {
    expect(loadAgentConfig(NATS).volumesFolder).toBeNull();
    expect(loadAgentConfig({ ...NATS, BERTH_VOLUMES: '/srv/x/../volumes/' }).volumesFolder).toBe('/srv/volumes');
  });

  test.each(['0.0.0.0', '::', 'everywhere'])('lets no bridge listen on %s', (address) => {
    for (const runtime of ['docker', 'process']) {
      const environment = { ...NATS, BERTH_RUNTIME: runtime, BERTH_BRIDGE_LISTEN: address };
      expect(() => loadAgentConfig(environment)).toThrow('BERTH_BRIDGE_LISTEN must be one address');
    }
  });

  test('has the tolerations of Pods as the cluster writes them, and names what are none', () => {
    const load = (words: object) => loadAgentConfig({ ...NATS, BERTH_RUNTIME: 'kubernetes', ...words }).runtime;
    expect(load({})).toMatchObject({ tolerations: [] });
    const tolerations = [{ key: 'pool', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }];
    expect(load({ BERTH_KUBERNETES_TOLERATIONS: JSON.stringify(tolerations) })).toMatchObject({ tolerations });
    const many = JSON.stringify(Array.from({ length: 65 }, () => ({ operator: 'Exists' })));
    for (const wrong of ['pool', '{}', '[1]', '[{"key":1}]', '[{"tolerationSeconds":"60"}]', many]) {
      expect(() => load({ BERTH_KUBERNETES_TOLERATIONS: wrong })).toThrow(
        'BERTH_KUBERNETES_TOLERATIONS cannot be used',
      );
    }
  });

  test('honours DOCKER_HOST, and refuses one that it cannot read', () => {
    const { runtime } = loadAgentConfig({ ...NATS, DOCKER_HOST: 'tcp://10.1.2.3:2375' });
    expect(runtime).toMatchObject({ engines: [{ address: { kind: 'tcp', host: '10.1.2.3', port: 2_375 } }] });
    expect(() => loadAgentConfig({ ...NATS, DOCKER_HOST: 'ssh://host' })).toThrow('DOCKER_HOST');
  });

  test('reads what workers may reach, and names what is no network', () => {
    const { runtime } = loadAgentConfig({
      ...NATS,
      BERTH_WORKER_BLOCKED_NETWORKS: '10.0.0.0/8, 192.0.2.7',
      BERTH_WORKER_ALLOWED_NETWORKS: '10.1.0.0/16',
      BERTH_CONFINEMENT: 'optional',
    });
    expect(runtime).toMatchObject({
      confinement: {
        isRequired: false,
        blockedNetworks: ['10.0.0.0/8', '192.0.2.7'],
        allowedNetworks: ['10.1.0.0/16'],
      },
    });
    for (const wrong of ['10.0.0.0/33', 'fd00::/8', 'nfs.example.com', '10.0.0.0/8;-j ACCEPT']) {
      const load = (): unknown => loadAgentConfig({ ...NATS, BERTH_WORKER_ALLOWED_NETWORKS: wrong });
      expect(load).toThrow('BERTH_WORKER_ALLOWED_NETWORKS');
    }
  });

  test('shows a worker only PATH and LANG, and a setup everything but our own settings', () => {
    const environment = { PATH: '/bin', LANG: 'C', HTTPS_PROXY: 'p', BERTH_JOIN_TOKEN: 'secret' };
    const { runtime } = loadAgentConfig({ ...NATS, ...environment, BERTH_RUNTIME: 'process' });
    expect(runtime).toMatchObject({
      workerEnvironment: { PATH: '/bin', LANG: 'C' },
      setupEnvironment: { PATH: '/bin', LANG: 'C', HTTPS_PROXY: 'p' },
    });
  });

  test('reads simulated GPUs and vCPU', () => {
    const config = loadAgentConfig({ ...NATS, BERTH_SIMULATED_GPUS: 'NVIDIA L4:2:12.4', BERTH_VCPUS: '64' });
    expect(config.simulatedGpus?.gpus).toHaveLength(2);
    expect(config.vcpus).toBe(64);
  });

  test('keeps two of the largest bodies of a worker in memory and a dozen of all, and never less than one', () => {
    const MIB = 2 ** 20;
    expect(loadAgentConfig(NATS).bodies).toEqual({ workerBytesMax: 80 * MIB, hostBytesMax: 512 * MIB });
    const less = String(40 * MIB - 1);
    for (const name of ['BERTH_BRIDGE_WORKER_BODY_BYTES', 'BERTH_BRIDGE_BODY_BYTES']) {
      expect(() => loadAgentConfig({ ...NATS, [name]: less })).toThrow(name);
    }
  });

  test('names every setting that is wrong', () => {
    const wrong = {
      BERTH_RUNTIME: 'podman',
      BERTH_SIMULATED_GPUS: 'x',
      BERTH_VCPUS: '-1',
      BERTH_KEEP_WORKERS: 'maybe',
    };
    const load = (): unknown => loadAgentConfig(wrong);
    expect(load).toThrow(ConfigError);
    for (const name of ['BERTH_NATS_URL', ...Object.keys(wrong)]) expect(load).toThrow(name);
  });

  test('have a token, or a file with one, and not both', () => {
    const both = { ...NATS, BERTH_JOIN_TOKEN: 'bjt_a_b', BERTH_JOIN_TOKEN_FILE: '/token' };
    expect(() => loadAgentConfig(both)).toThrow('BERTH_JOIN_TOKEN and BERTH_JOIN_TOKEN_FILE: set one of them');
  });
});
