import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { V1PodSpec } from '@kubernetes/client-node';
import { runCommand } from '@berth/servers';
import { eventually, useCluster, useTempFolders } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  buildHelm,
  CHART,
  DEPLOY,
  helm,
  objectsOf,
  podOf,
  render,
  VALUE_SETS,
  valuesFile,
  type ClusterObject,
} from './chart/helm-chart.js';

const BERTH = resolve(import.meta.dirname, '../../../apps/berth/dist/main.js');
const TEST_MS = 300_000;
const CALL_MS = 120_000;
/** Kinds that this cluster does not know. */
const FOREIGN = ['ServiceMonitor', 'HTTPRoute'];
const SET = 'trial';
const OURS = 'app.kubernetes.io/instance=berth';
const COMPONENTS = ['broker', 'controllers', 'job-router', 'management-api', 'migrate', 'postgres', 'worker-agent'];
const KINDS =
  'pods,deployments,daemonsets,statefulsets,jobs,services,configmaps,poddisruptionbudgets,networkpolicies,serviceaccounts,' +
  'roles,rolebindings,clusterroles,clusterrolebindings,priorityclasses,persistentvolumeclaims';
const WAIT = { deadlineMs: 120_000, intervalMs: 500 };
/** Made by hand, later, or not at all. */
const LATER = ['berth-join-tokens', 'berth-test'];

const fixture = useCluster();
const newFolder = useTempFolders();
let programs: string;

beforeAll(async () => {
  programs = await buildHelm();
  await fixture.cluster.kubectl('apply', '--filename', join(DEPLOY, 'namespaces.yaml'));
}, TEST_MS);

const textsOf = (rendered: string): readonly string[] => rendered.split(/^---$/m);
const isOf = (text: string, kind: string): boolean => text.includes(`\nkind: ${kind}\n`);

async function writeTexts(texts: readonly string[]): Promise<string> {
  const file = join(await newFolder(), 'objects.yaml');
  await writeFile(file, texts.join('---'));
  return file;
}

/** Writes an installation as the page says, for one broker, and makes Secrets of it. */
async function makeSecrets(): Promise<void> {
  const folder = join(await newFolder(), 'installation');
  const plan = ['--brokers', '1', '--broker-host', 'berth-broker-1.berth-broker.berth.svc'];
  await runCommand(
    process.execPath,
    [BERTH, 'init', folder, ...plan, '--database-host', 'berth-postgres', '--seen-at', '/etc/berth', '--json'],
    { timeoutMs: CALL_MS },
  );
  const { kubeconfig: KUBECONFIG } = fixture.cluster;
  // Its cache is written where it is at home.
  const env = { KUBECTL: join(programs, 'kubectl'), KUBECONFIG, PATH: '/usr/bin:/bin', HOME: await newFolder() };
  const said = await runCommand(join(DEPLOY, 'secrets.sh'), [folder], { timeoutMs: CALL_MS, env });
  expect(said.trim().split('\n')).toHaveLength(9);
  const again = await runCommand(join(DEPLOY, 'secrets.sh'), [folder], { timeoutMs: CALL_MS, env });
  expect(again).toBe(said);
}

/** `NAMESPACE/SECRET/KEY` of all keys that Pods name, and `NAMESPACE/SECRET/` where they take a whole Secret. */
const namedKeys = (object: ClusterObject): readonly string[] => {
  const pod = podOf(object);
  const namespace = object.metadata.namespace ?? '';
  const named = pod === undefined ? [] : [...keysOfVariables(pod), ...keysOfVolumes(pod)];
  return named.filter(([name]) => !LATER.includes(name)).map((words) => [namespace, ...words].join('/'));
};

type Named = readonly [secret: string, key: string];

const keysOfVariables = (pod: V1PodSpec): readonly Named[] =>
  [...(pod.initContainers ?? []), ...pod.containers].flatMap(({ env = [], envFrom = [] }) => [
    ...env.flatMap(({ valueFrom }): Named[] => {
      const ref = valueFrom?.secretKeyRef;
      return ref?.name === undefined ? [] : [[ref.name, ref.key]];
    }),
    ...envFrom.map(({ secretRef }): Named => [secretRef?.name ?? '', '']),
  ]);

const keysOfVolumes = (pod: V1PodSpec): readonly Named[] =>
  (pod.volumes ?? []).flatMap(({ secret }): readonly Named[] =>
    secret?.secretName === undefined ? [] : (secret.items ?? []).map(({ key }) => [secret.secretName ?? '', key]),
  );

describe('the API server', () => {
  const classes = async (): Promise<string> =>
    writeTexts(textsOf(await render(programs, SET)).filter((text) => isOf(text, 'PriorityClass')));

  // A Pod is refused, in a dry run too, whose class is not there.
  beforeAll(async () => void (await fixture.cluster.kubectl('apply', '--server-side', '-f', await classes())), TEST_MS);
  afterAll(async () => void (await fixture.cluster.kubectl('delete', '-f', await classes())), TEST_MS);

  test.each(VALUE_SETS)(
    'takes what is made of the values %s, and has no warning for it',
    async (set) => {
      const texts = textsOf(await render(programs, set));
      const known = texts.filter((text) => !FOREIGN.some((kind) => isOf(text, kind)));
      const words = ['apply', '--server-side', '--dry-run=server', '--warnings-as-errors', '--filename'];
      const said = await fixture.cluster.kubectl(...words, await writeTexts(known));
      expect(said.trim().split('\n')).toHaveLength(objectsOf(known.join('---')).length);
    },
    TEST_MS,
  );
});

test(
  'Secrets of what `berth init` wrote have every key that a Pod names, and making them again changes nothing',
  async () => {
    await makeSecrets();
    const list = JSON.parse(await fixture.cluster.kubectl('get', 'secrets', '--all-namespaces', '--output=json')) as {
      readonly items: readonly { readonly metadata: ClusterObject['metadata']; readonly data?: object }[];
    };
    const there = list.items.flatMap(({ data = {}, metadata: { name, namespace = '' } }) =>
      ['', ...Object.keys(data)].map((key) => `${namespace}/${name}/${key}`),
    );
    const named = objectsOf(await render(programs, SET)).flatMap(namedKeys);
    expect(named.length).toBeGreaterThan(10);
    expect(there).toEqual(expect.arrayContaining([...named]));
  },
  TEST_MS,
);

test(
  'an install makes every kind of Pod and says what to do next, and an uninstall leaves nothing',
  async () => {
    const { kubeconfig } = fixture.cluster;
    const where = ['--kubeconfig', kubeconfig, '--namespace', 'berth'];
    const said = await helm(programs, 'install', 'berth', CHART, ...where, '--values', valuesFile(SET));
    expect(said).toContain('create secret generic berth-join-tokens');
    // No node has an image of theirs, and no disk is there; what matters is that nothing refuses them.
    await eventually(async () => expect(await madeKinds()).toEqual(COMPONENTS), WAIT);
    await helm(programs, 'uninstall', 'berth', ...where, '--wait', '--timeout', '2m');
    await eventually(async () => expect(await leftovers()).toBe(''), WAIT);
  },
  TEST_MS,
);

/** Components of which there is a Pod. */
async function madeKinds(): Promise<readonly string[]> {
  const label = "{range .items[*]}{.metadata.labels['app\\.kubernetes\\.io/component']}{'\\n'}{end}";
  const words = ['get', 'pods', '--all-namespaces', '--selector', OURS, '--output', `jsonpath=${label}`];
  return [...new Set((await fixture.cluster.kubectl(...words)).trim().split('\n'))].toSorted();
}

const leftovers = async (): Promise<string> =>
  fixture.cluster.kubectl('get', KINDS, '--all-namespaces', '--selector', OURS, '--output=name');
