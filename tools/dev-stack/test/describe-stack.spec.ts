import { describe, expect, test } from '@jest/globals';
import { appEnvironment, type StackFacts } from '../src/app-environment.js';
import { appProcesses } from '../src/app-processes.js';
import { readStackConfig } from '../src/config.js';
import { describeStack } from '../src/describe-stack.js';
import type { DevFile } from '../src/dev-file.js';
import { LocalAgent } from '../src/local-agent.js';
import type { StackPorts } from '../src/stack-ports.js';

const role = 'seed';
const roles = {
  management: role,
  controllers: role,
  router: role,
  callout: role,
  sessions: role,
  gateway: role,
  operator: role,
};

const AGENT = { bridge: 8_002, operations: 8_009 };
const portsOf = (routers: StackPorts['routers'], agents: StackPorts['agents'] = [AGENT]): StackPorts => ({
  managementApi: 8_000,
  routers,
  agents,
  nats: 8_003,
  natsMonitoring: 8_004,
  postgres: 8_005,
  operations: { 'management-api': 8_006, controllers: 8_007 },
});
const ONE = portsOf([{ http: 8_001, operations: 8_008 }]);
const TWO = portsOf([
  { http: 8_001, operations: 8_008 },
  { http: 8_010, operations: 8_011 },
]);

const factsOf = (ports: StackPorts): StackFacts => ({
  config: readStackConfig([], { folder: '/', repository: '/', environment: {} }),
  ports,
  secrets: {
    apiKey: 'key',
    secretKey: 'secret',
    nats: { roles: { ...roles, system: role, backup: role, restore: role }, issuer: role },
  },
  natsUrl: 'nats://127.0.0.1:8003',
  databaseUrl: 'postgres://127.0.0.1:8005/berth',
  runtime: 'process',
  engine: null,
  storageBytes: 1,
});

const describeWith = (ports: StackPorts, pids: DevFile['processes']): DevFile =>
  describeStack(factsOf(ports), {
    pids,
    hosts: appProcesses(ports).agents.map(({ name }, index) => ({
      name,
      hostId: `host-${index + 1}`,
      operationsUrl: `http://host-${index + 1}`,
    })),
    readyAt: '2026-01-01T00:00:00.000Z',
  });

describe('dev.json', () => {
  test('lists the one router and the one agent, too', () => {
    const dev = describeWith(ONE, { launcher: 9, 'job-router': 3, 'worker-agent': 4 });
    expect(dev.routers).toEqual([{ runUrl: 'http://127.0.0.1:8001', pid: 3 }]);
    expect(dev.agents).toEqual([{ hostId: 'host-1', pid: 4 }]);
    expect(dev.processes).toEqual({ launcher: 9, 'job-router': 3, 'worker-agent': 4 });
  });

  test('has a new pid of a second router in both places, and the addresses of the first', () => {
    const before = describeWith(TWO, { 'job-router': 3, 'job-router-2': 5, 'worker-agent': 4 });
    const after = describeWith(TWO, { 'job-router': 3, 'job-router-2': 6, 'worker-agent': 4 });
    for (const [dev, pid] of [
      [before, 5],
      [after, 6],
    ] as const) {
      expect(dev.processes['job-router-2']).toBe(pid);
      expect(dev.routers).toEqual([
        { runUrl: 'http://127.0.0.1:8001', pid: 3 },
        { runUrl: 'http://127.0.0.1:8010', pid },
      ]);
    }
    expect(after).toMatchObject({ runUrl: 'http://127.0.0.1:8001', loadBalancerDomain: 'localhost:8001' });
    expect(after.operations).toMatchObject({
      'job-router': 'http://127.0.0.1:8008',
      'job-router-2': 'http://127.0.0.1:8011',
    });
  });
});

const THREE_HOSTS = portsOf(
  [{ http: 8_001, operations: 8_008 }],
  [AGENT, { bridge: 8_010, operations: 8_011 }, { bridge: 8_012, operations: 8_013 }],
);

describe('several hosts', () => {
  test('are listed with the pid and the address of their agents', () => {
    const pids = { 'job-router': 3, 'worker-agent': 4, 'worker-agent-2': 5, 'worker-agent-3': 6 };
    const dev = describeWith(THREE_HOSTS, pids);
    expect(dev.agents).toEqual([
      { hostId: 'host-1', pid: 4 },
      { hostId: 'host-2', pid: 5 },
      { hostId: 'host-3', pid: 6 },
    ]);
    expect(dev.operations).toMatchObject({ 'worker-agent': 'http://host-1', 'worker-agent-3': 'http://host-3' });
  });

  test('have homes and bridges of their own, and workers that leave with their agents', () => {
    const facts = factsOf(THREE_HOSTS);
    const environments = appProcesses(THREE_HOSTS).agents.map((agent, index) =>
      new LocalAgent(agent, index, { home: '/home' }).environment(facts, {}),
    );
    expect(environments.map((each) => [each['BERTH_HOME'], each['BERTH_BRIDGE_PORT']])).toEqual([
      ['/home/agent', '8002'],
      ['/home/agent-2', '8010'],
      ['/home/agent-3', '8012'],
    ]);
    for (const each of environments) expect(each).toMatchObject({ BERTH_KEEP_WORKERS: 'false' });
  });

  test('reach the broker by their own line where they have a network of their own', () => {
    const [, agent] = appProcesses(THREE_HOSTS).agents;
    if (agent === undefined) throw new Error('there is no second agent');
    const network = {
      ...{ namespace: 'berth-1-2', interfaceName: 'bh1-2' },
      ...{ machineAddress: '198.18.0.1', hostAddress: '198.18.0.2' },
    };
    const local = new LocalAgent(agent, 1, { home: '/home', network });
    expect(local.environment(factsOf(THREE_HOSTS), {})).toMatchObject({
      BERTH_NATS_URL: 'nats://198.18.0.1:8003',
      BERTH_HTTP_HOST: '198.18.0.2',
    });
    expect(local.operationsUrl).toBe('http://198.18.0.2:8011');
    expect(local.wrapper).toEqual(['nsenter', '--net=/run/netns/berth-1-2']);
  });
});

describe('the environment of each process', () => {
  const { controllers, managementApi, routers } = appProcesses(TWO);

  test('gives a second router ports of its own and all else that the first has', () => {
    const [first = {}, second = {}] = routers.map((router) => appEnvironment(router, factsOf(TWO), {}));
    expect(first).toMatchObject({ BERTH_HTTP_PORT: '8001', BERTH_OPERATIONS_PORT: '8008' });
    expect(second).toEqual({ ...first, BERTH_HTTP_PORT: '8010', BERTH_OPERATIONS_PORT: '8011' });
  });

  test('names the first router to whoever asks the management API', () => {
    const environment = appEnvironment(managementApi, factsOf(TWO), {});
    expect(environment).toMatchObject({
      BERTH_HTTP_PORT: '8000',
      BERTH_RUN_URL: 'http://127.0.0.1:8001',
      BERTH_LB_DOMAIN: 'localhost:8001',
    });
    expect(appEnvironment(controllers, factsOf(TWO), {})).not.toHaveProperty('BERTH_HTTP_PORT');
  });
});
