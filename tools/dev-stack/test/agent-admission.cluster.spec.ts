import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostOfNode } from '@berth/domain';
import { eventually } from '@berth/testing';
import { useCluster } from '@berth/testing/containers';
import { useTempFolders } from '@berth/testing/folders';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { buildHelm, CHART, DEPLOY, helm, valuesFile } from './chart/helm-chart.js';

const SETUP_MS = 900_000;
const NAMESPACE = 'berth-workers';
const WORKERS = ['--namespace', NAMESPACE];
const ACCOUNT = 'berth-worker-agent';
const AGENTS = ['--namespace', 'berth-agents'];
const TEMPLATES = ['worker-agent-rights', 'worker-agent-admission'];
const NOT_OWN_POD = /Pods of its own node/;
const NOT_OWN_SECRET = /Secrets that its own node owns/;
const NOT_OWN_EXEC = /programs in Pods of its own node/;
const NOT_OWN_LABEL = /names the host of another node/;
type Kind = 'pods' | 'secrets';
const pathOf = (kind: Kind): string => `/api/v1/namespaces/${NAMESPACE}/${kind}`;

interface Node {
  readonly name: string;
  readonly uid: string;
}

const fixture = useCluster();
const newFolder = useTempFolders();
const asAdmin = (...words: readonly string[]): Promise<string> => fixture.cluster.kubectl(...words);
let folder: string;
let own: Node;
let other: Node;
let agent: Agent;

const write = async (name: string, object: object): Promise<string> => {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(object), { mode: 0o600 });
  return file;
};

const nodeOf = async (name: string): Promise<Node> => ({
  name,
  uid: await asAdmin('get', 'node', name, '--output=jsonpath={.metadata.uid}'),
});

/** Of a Pod that never starts, since its image is nowhere. */
const pod = (name: string, node: Node | null, labels = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE, labels } },
  spec: {
    ...(node === null ? {} : { nodeName: node.name }),
    ...{ restartPolicy: 'Never', terminationGracePeriodSeconds: 1, automountServiceAccountToken: false },
    containers: [{ name: 'worker', image: 'local/nowhere:1', imagePullPolicy: 'Never' }],
  },
});

const secret = (name: string, { owner, labels = {} }: { readonly owner: Node | null; readonly labels?: object }) => {
  const ownerReferences = owner === null ? [] : [{ apiVersion: 'v1', kind: 'Node', ...owner }];
  const metadata = { name, namespace: NAMESPACE, labels, ownerReferences };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { word: 'x' } };
};

async function boundToPodOn(node: Node): Promise<readonly string[]> {
  const name = `agent-${node.name}`;
  const { spec, ...rest } = pod(name, node);
  const object = {
    ...rest,
    metadata: { name, namespace: 'berth-agents' },
    spec: { ...spec, serviceAccountName: ACCOUNT },
  };
  await asAdmin('create', '--filename', await write('agent', object));
  const uid = await asAdmin('get', 'pod', name, ...AGENTS, '--output=jsonpath={.metadata.uid}');
  return ['--bound-object-kind=Pod', `--bound-object-name=${name}`, `--bound-object-uid=${uid}`];
}

/** An agent, and what it asks of the API. */
class Agent {
  readonly #kubectl: (...words: readonly string[]) => Promise<string>;

  constructor(kubeconfig: string) {
    this.#kubectl = (...words) => asAdmin('--kubeconfig', kubeconfig, ...words);
  }

  /** Its token is bound to a Pod on a node, as a kubelet has it made for an agent, or to nothing. */
  static async of(node: Node | null): Promise<Agent> {
    const bound = node === null ? [] : await boundToPodOn(node);
    const token = (await asAdmin('create', 'token', ACCOUNT, ...AGENTS, '--duration=1h', ...bound)).trim();
    const config = JSON.parse(await asAdmin('config', 'view', '--raw', '--output=json')) as {
      users: { user: unknown }[];
    };
    for (const each of config.users) each.user = { token };
    return new Agent(await write(`config-${node?.name ?? 'none'}`, config));
  }

  async create(kind: Kind, object: object, query = ''): Promise<string> {
    return this.#kubectl('create', `--raw=${pathOf(kind)}${query}`, '--filename', await write('created', object));
  }

  delete(kind: Kind, name: string): Promise<string> {
    return this.#kubectl('delete', `--raw=${pathOf(kind)}/${name}`);
  }

  run(name: string): Promise<string> {
    return this.#kubectl('exec', name, ...WORKERS, '--', 'true');
  }

  endPod(name: string): Promise<string> {
    return this.#patch(name, { spec: { activeDeadlineSeconds: 1 } });
  }

  relabel(name: string, host: string): Promise<string> {
    return this.#patch(name, { metadata: { labels: { 'berth.host': host } } });
  }

  #patch(name: string, change: object): Promise<string> {
    return this.#kubectl('patch', 'pod', name, ...WORKERS, '--patch', JSON.stringify(change));
  }
}

// The rights of agents, what holds each to its node, and a second node, of which there is no more than its name.
beforeAll(async () => {
  folder = await newFolder();
  const programs = await buildHelm();
  const shown = TEMPLATES.flatMap((name) => ['--show-only', `templates/${name}.yaml`]);
  const words = ['template', 'berth', CHART, '--namespace', 'berth', '--values', valuesFile('trial'), ...shown];
  await writeFile(join(folder, 'agents.yaml'), await helm(programs, ...words));
  await asAdmin('apply', '--filename', join(DEPLOY, 'namespaces.yaml'));
  await asAdmin('apply', '--warnings-as-errors', '--filename', join(folder, 'agents.yaml'));
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node2' } };
  await asAdmin('create', '--filename', await write('node', node));
  await asAdmin('wait', '--for=create', 'serviceaccount/default', ...WORKERS, '--timeout=30s');
  own = await nodeOf(fixture.cluster.nodeName);
  other = await nodeOf('node2');
  agent = await Agent.of(own);
  // The API server takes rights and policies up in a moment of its own.
  await eventually(async () => {
    await expect(agent.create('pods', pod('w', other), '?dryRun=All')).rejects.toThrow(NOT_OWN_POD);
    await expect(agent.create('secrets', secret('s', { owner: other }), '?dryRun=All')).rejects.toThrow(NOT_OWN_SECRET);
  });
}, SETUP_MS);
afterEach(async () => {
  await asAdmin('delete', 'pods,secrets', '--all', ...WORKERS, '--grace-period=0', '--force');
});

test('the cluster finds nothing wrong in what holds agents to their nodes', async () => {
  const seen = '--for=jsonpath={.status.observedGeneration}=1';
  await asAdmin(
    'wait',
    seen,
    'validatingadmissionpolicies',
    '--selector=app.kubernetes.io/name=berth',
    '--timeout=60s',
  );
  const warnings = '--output=jsonpath={.items[*].status.typeChecking.expressionWarnings}';
  expect(await asAdmin('get', 'validatingadmissionpolicies', warnings)).toBe('');
});

test('an agent makes, ends and deletes Pods of its own node, and Secrets that its node owns', async () => {
  const labels = { 'berth.host': hostOfNode(own) };
  await agent.create('pods', pod('w1', own, labels));
  await agent.create('pods', pod('w2', own, { 'berth.host': 'host-of-a-join-token' }));
  await agent.endPod('w1');
  await agent.delete('pods', 'w1');
  await agent.create('secrets', secret('s1', { owner: own, labels }));
  await agent.delete('secrets', 's1');
});

describe('an agent whose token was stolen', () => {
  test('makes no Pod on another node, nor one for the scheduler', async () => {
    await expect(agent.create('pods', pod('w1', other))).rejects.toThrow(NOT_OWN_POD);
    await expect(agent.create('pods', pod('w1', null))).rejects.toThrow(NOT_OWN_POD);
  });

  test('ends and deletes no Pod of another node', async () => {
    await asAdmin('create', '--filename', await write('pod', pod('w1', other)));
    await expect(agent.endPod('w1')).rejects.toThrow(NOT_OWN_POD);
    await expect(agent.delete('pods', 'w1')).rejects.toThrow(NOT_OWN_POD);
  });

  test('runs no program in a Pod of another node', async () => {
    await asAdmin('create', '--filename', await write('pod', pod('w1', other)));
    await asAdmin('create', '--filename', await write('pod', pod('w2', own)));
    // Pods that are a moment old are not known to the policy.
    await eventually(() => expect(agent.run('w1')).rejects.toThrow(NOT_OWN_EXEC));
    // Nothing but that it does not run stands in the way of the other.
    await expect(agent.run('w2')).rejects.toThrow(/container not found|not found in pod|does not have a host assigned/);
  });

  test('makes and deletes no Secret that another node owns, or nobody', async () => {
    await expect(agent.create('secrets', secret('s1', { owner: other }))).rejects.toThrow(NOT_OWN_SECRET);
    await expect(agent.create('secrets', secret('s1', { owner: null }))).rejects.toThrow(NOT_OWN_SECRET);
    await asAdmin('create', '--filename', await write('secret', secret('s1', { owner: other })));
    await expect(agent.delete('secrets', 's1')).rejects.toThrow(NOT_OWN_SECRET);
  });

  test('passes nothing of its own off as another node’s', async () => {
    const labels = { 'berth.host': hostOfNode(other) };
    await expect(agent.create('pods', pod('w1', own, labels))).rejects.toThrow(NOT_OWN_LABEL);
    await expect(agent.create('secrets', secret('s1', { owner: own, labels }))).rejects.toThrow(NOT_OWN_LABEL);
    await agent.create('pods', pod('w1', own));
    await expect(agent.relabel('w1', hostOfNode(other))).rejects.toThrow(NOT_OWN_LABEL);
  });
});

test('a token of the agents’ account that is bound to no node makes nothing at all', async () => {
  const nobody = await Agent.of(null);
  await expect(nobody.create('pods', pod('w1', own))).rejects.toThrow(NOT_OWN_POD);
  await expect(nobody.create('secrets', secret('s1', { owner: own }))).rejects.toThrow(NOT_OWN_SECRET);
});
