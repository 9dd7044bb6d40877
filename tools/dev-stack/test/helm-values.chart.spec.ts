import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { useTempFolders } from '@berth/testing/folders';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  buildHelm,
  CHART,
  helm,
  objectsOf,
  podOf,
  render,
  valuesFile,
  type ClusterObject,
} from './chart/helm-chart.js';

const BUILD_MS = 900_000;

const newFolder = useTempFolders();
let programs: string;
beforeAll(async () => {
  programs = await buildHelm();
}, BUILD_MS);

const made = async (...values: readonly string[]): Promise<readonly ClusterObject[]> =>
  objectsOf(await render(programs, 'trial', ...values));

const one = (all: readonly ClusterObject[], kind: string, name: string): ClusterObject => {
  const found = all.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`No ${kind} ${name} was made.`);
  return found;
};

describe('routers', () => {
  const SET = '/apis/apps/v1/namespaces/berth/statefulsets/berth-job-router';
  const RESOURCES = {
    ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' },
    resources: [{ name: 'statefulsets', singularName: '', namespaced: true, kind: 'StatefulSet', verbs: ['get'] }],
  };

  /** What is made where the cluster has so many routers, or none yet. */
  async function replicasWhere(present: number | null, ...values: readonly string[]): Promise<unknown> {
    const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { replicas: present } };
    const server = createServer(({ url = '' }, response) => {
      const answer = url.startsWith(SET) && present !== null ? set : RESOURCES;
      const isThere = answer === set || url.startsWith('/apis/apps/v1?') || url === '/apis/apps/v1';
      response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(isThere ? answer : { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const api = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const words = ['template', 'berth', CHART, '--namespace', 'berth', '--values', valuesFile('trial')];
    const switches = ['--dry-run=server', '--kube-apiserver', api, ...values.flatMap((each) => ['--set', each])];
    try {
      const all = objectsOf(await helm(programs, ...words, ...switches));
      return one(all, 'StatefulSet', 'berth-job-router').spec?.['replicas'];
    } finally {
      server.close();
    }
  }

  test('that are scaled automatically stay as many as they are, and the first ones are for the autoscaler to count', async () => {
    const isOn = 'jobRouter.autoscaling.enabled=true';
    expect(await replicasWhere(7, isOn)).toBe(7);
    expect(await replicasWhere(null, isOn)).toBeUndefined();
    const anywhere = one(await made(isOn), 'StatefulSet', 'berth-job-router');
    expect(anywhere.spec).not.toHaveProperty('replicas');
  });

  test('that are not are as many as the values say, however many there are', async () => {
    expect(await replicasWhere(7, 'jobRouter.replicas=3')).toBe(3);
  });
});

test('a whole number of a values file is written as such, however large it is', async () => {
  const file = join(await newFolder(), 'numbers.yaml');
  const numbers = { BERTH_A: 999_999, BERTH_B: 1_000_000, BERTH_C: 1_234_567_890_123, BERTH_D: true, BERTH_E: 0 };
  const drains = { drainMs: 3_600_000, settings: numbers };
  const rest = { managementApi: { settings: numbers }, controllers: { settings: numbers } };
  await writeFile(file, JSON.stringify({ ...rest, jobRouter: drains, workerAgent: { settings: numbers } }));
  const words = ['template', 'berth', CHART, '--values', valuesFile('trial'), '--values', file];
  const all = objectsOf(await helm(programs, ...words));
  const variables = (kind: string, name: string): unknown =>
    podOf(one(all, kind, name))?.containers[0]?.env?.map(({ name: variable, value }) => [variable, value]);
  const expected = Object.entries(numbers).map(([name, value]) => [name, String(value)]);
  for (const name of ['berth-management-api', 'berth-controllers'])
    expect(variables('Deployment', name)).toEqual(expect.arrayContaining(expected));
  expect(variables('DaemonSet', 'berth-worker-agent')).toEqual(expect.arrayContaining(expected));
  const router = variables('StatefulSet', 'berth-job-router');
  expect(router).toEqual(expect.arrayContaining([...expected, ['BERTH_DRAIN_MS', '3600000']]));
});

test('workers bear the taints that their agents bear', async () => {
  const key = 'workerAgent.tolerations[0]';
  const taint = [`${key}.key=pool`, `${key}.operator=Exists`, `${key}.effect=NoExecute`, `${key}.tolerationSeconds=60`];
  const variables = async (...values: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> => {
    const env = podOf(one(await made(...values), 'DaemonSet', 'berth-worker-agent'))?.containers[0]?.env ?? [];
    return new Map(env.map(({ name, value }) => [name, value]));
  };
  const told = (await variables(...taint)).get('BERTH_KUBERNETES_TOLERATIONS') ?? '';
  const pool = { key: 'pool', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };
  expect(JSON.parse(told)).toEqual([pool]);
  expect([...(await variables()).keys()]).not.toContain('BERTH_KUBERNETES_TOLERATIONS');
});

describe('what workers may reach', () => {
  const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];
  const NAMES = [
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ];
  const POLICY = 'workers.networkPolicy';
  const blocks = (cidrs: readonly string[]): readonly object[] => cidrs.map((cidr) => ({ ipBlock: { cidr } }));
  const egress = async (...values: readonly string[]): Promise<unknown> =>
    one(await made(...values), 'NetworkPolicy', 'berth-workers').spec?.['egress'];

  test('are the name servers of their nodes, wherever in private networks these are, and one on the node', async () => {
    const dns = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    };
    expect(await egress()).toContainEqual({ to: [dns, ...blocks(PRIVATE)], ports: NAMES });
    const own = ['169.254.20.10/32', '10.0.0.2/32'];
    expect(await egress(`${POLICY}.nameServers={${own.join(',')}}`)).toContainEqual({
      ...{ to: [dns, ...blocks(own)], ports: NAMES },
    });
  });

  test('are the internet and no private network, unless they are told otherwise', async () => {
    expect(await egress()).toContainEqual({ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: PRIVATE } }] });
  });

  test('are the whole of IPv6, too, wherever a network is named', async () => {
    const all = await egress(
      ...[`${POLICY}.nodes={::/0}`, `${POLICY}.nameServers={::/0}`],
      ...[`${POLICY}.to[0].cidr=::/0`, `${POLICY}.to[0].except={::/1}`],
    );
    const whole = { ipBlock: { cidr: '::/0' } };
    expect(all).toEqual([
      { to: [whole], ports: [{ port: 8010 }] },
      { to: [expect.anything(), whole], ports: NAMES },
      { to: [{ ipBlock: { cidr: '::/0', except: ['::/1'] } }] },
    ]);
  });

  test('are networks, each but for parts of its own', async () => {
    const to = [
      `${POLICY}.to[0].cidr=10.0.0.0/8`,
      `${POLICY}.to[0].except={10.9.0.0/16}`,
      `${POLICY}.to[1].cidr=fd00::/8`,
    ];
    const half = { cidr: '10.0.0.0/8', except: ['10.9.0.0/16'] };
    expect(await egress(...to)).toContainEqual({ to: [{ ipBlock: half }, { ipBlock: { cidr: 'fd00::/8' } }] });
    await expect(egress(`${POLICY}.to=null`)).rejects.toThrow("missing property 'to'");
  });
});

/** Each is good by itself; the set has all that the others need. */
const TOGETHER: readonly (readonly [values: readonly string[], words: string])[] = [
  [['workers.namespace=berth'], 'workers.namespace is the namespace of the release'],
  [['workers.namespace=berth-agents'], 'workers.namespace and workerAgent.namespace are the same'],
  [['secrets.authority='], 'secrets.authority is empty, and broker.bundled or postgres.bundled is true'],
  [['jobRouter.settings.BERTH_NATS_REPLICAS=3'], 'jobRouter.settings.BERTH_NATS_REPLICAS is 3, more than the brokers'],
  [
    ['jobRouter.autoscaling.enabled=true', 'jobRouter.autoscaling.min=4', 'jobRouter.autoscaling.max=3'],
    'jobRouter.autoscaling.max is 3, less than jobRouter.autoscaling.min, which is 4',
  ],
  [
    ['jobRouter.autoscaling.enabled=true', 'jobRouter.resources.requests.cpu=null'],
    'jobRouter.autoscaling.enabled needs jobRouter.resources.requests.cpu',
  ],
  [['jobRouter.replicas=2', 'jobRouter.tunnelAddress=routers.example.com:8443'], 'has no $(BERTH_ROUTER_ID)'],
  [['ingress.enabled=true'], 'urls: 127.0.0.1 is no name'],
  [
    ['ingress.enabled=true', 'urls.base=https://berth.example.com:8000', 'urls.run=https://berth.example.com:8001'],
    'urls.base and urls.run have the same host, berth.example.com',
  ],
  [['placeholders.enabled=true', 'workerAgent.enabled=false'], 'placeholders.enabled needs workerAgent.enabled'],
  [['workerAgent.volumes.claim=volumes'], 'workerAgent.volumes.claim and workerAgent.volumes.workersClaim go together'],
  [['monitoring.serviceMonitor=true'], 'monitoring.serviceMonitor needs networkPolicy.operationsFrom'],
  [
    ['workerAgent.enabled=false', 'managementApi.settings.BERTH_NODE_SERVICE_ACCOUNT=a/b'],
    'managementApi.settings: BERTH_NODE_SERVICE_ACCOUNT is set by workerAgent.enabled',
  ],
  [['controllers.settings.BERTH_PLACEHOLDERS=on'], 'controllers.settings: BERTH_PLACEHOLDERS is set by placeholders'],
  [['controllers.settings.BERTH_DATABASE_URL=x'], 'controllers.settings: BERTH_DATABASE_URL comes from the Secret'],
  [['jobRouter.settings.BERTH_ROUTER_ID=x'], 'jobRouter.settings: BERTH_ROUTER_ID is the name of each Pod'],
  [['workerAgent.settings.BERTH_KUBERNETES_NODE=x'], 'workerAgent.settings: BERTH_KUBERNETES_NODE is the node of each'],
  [['workerAgent.settings.BERTH_VOLUMES=/srv'], 'workerAgent.settings: BERTH_VOLUMES is set by workerAgent.volumes'],
];

describe('values that cannot work together', () => {
  test.each(TOGETHER)('%j are refused, and it is said which', async (values, words) => {
    await expect(made(...values)).rejects.toThrow(words);
  });

  test('are the only ones that are refused: each has a neighbour that works', async () => {
    const names = ['urls.base=https://api.example.com', 'urls.run=https://run.example.com'];
    const good: readonly (readonly string[])[] = [
      ['jobRouter.autoscaling.enabled=true', 'jobRouter.autoscaling.min=3', 'jobRouter.autoscaling.max=3'],
      ['jobRouter.replicas=1', 'jobRouter.tunnelAddress=router.example.com:8443'],
      ['ingress.enabled=true', 'urls.loadBalancerDomain=lb.example.com', ...names],
      ['workerAgent.volumes.claim=volumes', 'workerAgent.volumes.workersClaim=volumes'],
      ['monitoring.serviceMonitor=true', 'networkPolicy.enabled=false'],
      ['workerAgent.enabled=false', 'workerAgent.namespace=berth-workers'],
    ];
    for (const values of good) expect((await made(...values)).length).toBeGreaterThan(10);
  });
});

test.each(['workerAgent.admissionPolicy', 'jobRouter.autoscaling.cpuPercent', 'drainDelayMs', 'broker.storage.size'])(
  'a value that is taken away, %s, is missed by its name',
  async (name) => {
    await expect(made(`${name}=null`)).rejects.toThrow(`missing property '${name.split('.').at(-1) ?? ''}'`);
  },
);
