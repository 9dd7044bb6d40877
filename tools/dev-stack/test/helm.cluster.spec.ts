import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { V1PodSpec } from '@kubernetes/client-node';
import { runCommand } from '@berth/servers';
import { useCluster, useTempFolders } from '@berth/testing';
import { beforeAll, expect, test } from '@jest/globals';
import { buildHelm, DEPLOY, objectsOf, podOf, render, VALUE_SETS, type ClusterObject } from './chart/helm-chart.js';

const BERTH = resolve(import.meta.dirname, '../../../apps/berth/dist/main.js');
const TEST_MS = 300_000;
const CALL_MS = 120_000;
/** Kinds that this cluster does not know. */
const FOREIGN = ['ServiceMonitor', 'HTTPRoute'];
const SET = 'trial';
/** Made by hand, later, or not at all. */
const LATER = ['berth-join-tokens', 'berth-test'];

const fixture = useCluster();
const newFolder = useTempFolders();
let programs: string;

beforeAll(async () => {
  programs = await buildHelm();
  await fixture.cluster.kubectl('apply', '--filename', join(DEPLOY, 'namespaces.yaml'));
  // A Pod is refused, in a dry run too, whose class is not there.
  const classes = textsOf(await render(programs, SET)).filter((text) => isOf(text, 'PriorityClass'));
  await fixture.cluster.kubectl('apply', '--server-side', '--filename', await writeTexts(classes));
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

test.each(VALUE_SETS)(
  'the API server takes what is made of the values %s, and has no warning for it',
  async (set) => {
    const texts = textsOf(await render(programs, set));
    const known = texts.filter((text) => !FOREIGN.some((kind) => isOf(text, kind)));
    const words = ['apply', '--server-side', '--dry-run=server', '--warnings-as-errors', '--filename'];
    const said = await fixture.cluster.kubectl(...words, await writeTexts(known));
    expect(said.trim().split('\n')).toHaveLength(objectsOf(known.join('---')).length);
  },
  TEST_MS,
);

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
