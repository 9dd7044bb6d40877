import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { hostOfNode, type ClusterNode } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useCluster } from '@berth/testing/containers';
import { useTempFolders } from '@berth/testing/folders';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { useManagementApi } from '../management-bench.js';
import { NodeAgents } from './node-agents.js';

const DEPLOY = resolve(import.meta.dirname, '../../../../deploy/kubernetes');
const AGENTS = ['--namespace', 'berth-agents'];
const SETUP_MS = 240_000;

const fixture = useCluster();
const kubectl = (...words: readonly string[]): Promise<string> => fixture.cluster.kubectl(...words);
const newFolder = useTempFolders();
let folder: string;
let node: ClusterNode;

beforeAll(async () => {
  folder = await newFolder();
  for (const file of ['agent.yaml', 'reviewer.yaml']) await kubectl('apply', '--filename', join(DEPLOY, file));
  await kubectl('wait', '--for=create', 'serviceaccount/default', ...AGENTS, '--timeout=30s');
  const reviewer = await kubectl('create', 'token', 'berth-token-reviewer', ...AGENTS, '--duration=1h');
  const config = JSON.parse(await kubectl('config', 'view', '--raw', '--output=json')) as {
    users: { user: unknown }[];
  };
  for (const each of config.users) each.user = { token: reviewer.trim() };
  await writeFile(join(folder, 'config'), JSON.stringify(config), { mode: 0o600 });
  const name = fixture.cluster.nodeName;
  node = { name, uid: await kubectl('get', 'node', name, '--output=jsonpath={.metadata.uid}') };
}, SETUP_MS);
const bench = useManagementApi({
  hasRoles: true,
  environment: {
    BERTH_NODE_SERVICE_ACCOUNT: 'berth-agents/berth-agent',
    get KUBECONFIG() {
      return join(folder, 'config');
    },
  },
});
const agents = new NodeAgents(bench);

/** A Pod that is bound to the node, and never starts, since its image is nowhere. */
async function podOf(account: string, namespace = 'berth-agents'): Promise<string> {
  const name = `pod-${systemRandom.uuid()}`;
  const file = join(folder, `${name}.json`);
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } },
    spec: {
      ...{ nodeName: node.name, serviceAccountName: account, terminationGracePeriodSeconds: 0 },
      containers: [{ name: 'agent', image: 'local/nowhere:1', imagePullPolicy: 'Never' }],
    },
  };
  await writeFile(file, JSON.stringify(pod));
  await kubectl('create', '--filename', file);
  return name;
}

/** A Pod as the chart makes it of an agent, which prints the token that its kubelet has given it. */
async function printedToken(): Promise<string> {
  const root = join(folder, 'root');
  await mkdir(join(root, 'bin'), { recursive: true });
  await cp('/bin/busybox', join(root, 'bin', 'busybox'));
  await symlink('busybox', join(root, 'bin', 'cat'));
  await fixture.cluster.makeImage('local/cat:1', root, { Entrypoint: ['/bin/cat', '/var/run/secrets/berth/token'] });
  const serviceAccountToken = { audience: 'berth', expirationSeconds: 600, path: 'token' };
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'printer', namespace: 'berth-agents' } },
    spec: {
      ...{ serviceAccountName: 'berth-agent', restartPolicy: 'Never', automountServiceAccountToken: false },
      securityContext: { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 },
      containers: [
        {
          ...{ name: 'agent', image: 'local/cat:1', imagePullPolicy: 'Never' },
          volumeMounts: [{ name: 'join', mountPath: '/var/run/secrets/berth', readOnly: true }],
        },
      ],
      volumes: [{ name: 'join', projected: { defaultMode: 0o440, sources: [{ serviceAccountToken }] } }],
    },
  };
  const file = join(folder, 'printer.json');
  await writeFile(file, JSON.stringify(pod));
  await kubectl('create', '--filename', file);
  await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/printer', ...AGENTS, '--timeout=60s');
  return (await kubectl('logs', 'printer', ...AGENTS)).trim();
}

/** As a kubelet asks for it on behalf of a projected volume. */
async function tokenOf(
  pod: string,
  { account = 'berth-agent', audience = 'berth', namespace = 'berth-agents' } = {},
): Promise<string> {
  const uid = await kubectl('get', 'pod', pod, '--namespace', namespace, '--output=jsonpath={.metadata.uid}');
  const bound = ['--bound-object-kind=Pod', `--bound-object-name=${pod}`, `--bound-object-uid=${uid}`];
  const words = ['create', 'token', account, '--namespace', namespace, '--audience', audience, '--duration=10m'];
  return (await kubectl(...words, ...bound)).trim();
}

const isRefused = (token: string): Promise<void> =>
  expect(agents.connect(hostOfNode(node), 'join', token)).rejects.toThrow('Authorization Violation');
const refusals = async (fault: string): Promise<boolean> => {
  const text = await (await fetch(`${bench.operationsUrl}/metrics`)).text();
  return text.includes(`berth_management_agents_not_admitted_total{fault="${fault}"}`);
};

test('the node of an agent’s Pod becomes a host by the token that its kubelet gave that Pod', async () => {
  const id = await agents.join(node, await printedToken(), 'secret');
  const { body } = await bench.call(`GET /v2/hosts/${id}`);
  expect(body).toMatchObject({ name: node.name, state: 'ready' });
  expect(await agents.report(id, 'secret')).toMatchObject({ desired: [] });
});

describe('a token of the same cluster', () => {
  test('of another account, of another namespace, or for another audience lets no node join', async () => {
    await isRefused(await tokenOf(await podOf('default'), { account: 'default' }));
    const namespace = 'berth-workers';
    await isRefused(await tokenOf(await podOf('default', namespace), { account: 'default', namespace }));
    await isRefused(await tokenOf(await podOf('berth-agent'), { audience: 'https://kubernetes.default.svc' }));
    expect(await refusals('token-of-others')).toBe(true);
  });

  test('of no Pod lets no node join, also where it is bound to the node', async () => {
    const words = ['create', 'token', 'berth-agent', ...AGENTS, '--audience', 'berth', '--duration=10m'];
    await isRefused((await kubectl(...words)).trim());
    const bound = ['--bound-object-kind=Node', `--bound-object-name=${node.name}`, `--bound-object-uid=${node.uid}`];
    await isRefused((await kubectl(...words, ...bound)).trim());
    expect(await refusals('token-of-no-pod')).toBe(true);
  });

  test('is worth nothing any more once its Pod is gone', async () => {
    const pod = await podOf('berth-agent');
    const token = await tokenOf(pod);
    await kubectl('delete', 'pod', pod, ...AGENTS, '--force', '--grace-period=0');
    await eventually(async () => {
      await isRefused(token);
      expect(await refusals('token-not-authenticated')).toBe(true);
    });
  });
});

test('who reviews tokens may do nothing else', async () => {
  const as = ['--as=system:serviceaccount:berth-agents:berth-token-reviewer'];
  expect((await kubectl('auth', 'can-i', 'create', 'tokenreviews', ...as)).trim()).toBe('yes');
  const rest = await kubectl('auth', 'can-i', '--list', '--no-headers', ...as);
  const rights = rest.split('\n').filter((line) => line !== '' && !/^\s|selfsubject/.test(line));
  expect(rights.map((line) => line.split(/\s+/)[0])).toEqual(['tokenreviews.authentication.k8s.io']);
});
