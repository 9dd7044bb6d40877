import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { V1Container, V1PodSpec } from '@kubernetes/client-node';
import { runCommand } from '@berth/servers';
import { useTempFolders } from '@berth/testing/folders';
import { beforeAll, describe, expect, test } from '@jest/globals';
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
  type ValueSet,
} from './chart/helm-chart.js';

const GENERATE = resolve(import.meta.dirname, '../../generate/chart.mjs');
const BUILD_MS = 900_000;
/** Requests that are under way have ten seconds once the drain is over. */
const REQUESTS_SECONDS = 10;
/** A set has all that the test needs; each that is named is wrong in one thing. */
const REFUSED: readonly (readonly [value: string, words: string])[] = [
  ['broker.replicas=2', "at '/broker/replicas': value must be one of 1, 3"],
  ['urls.base=api.example.com', "at '/urls/base': 'api.example.com' does not match pattern"],
  ['urls.loadBalancerDomain=', "at '/urls/loadBalancerDomain'"],
  ['drainDelayMs=60000', "at '/drainDelayMs': maximum: got 60,000, want 15,000"],
  ['jobRouter.drainMs=0', "at '/jobRouter/drainMs': minimum: got 0, want 1,000"],
  ['jobRouter.replica=2', "additional properties 'replica' not allowed"],
  ['jobRouter.settings.NODE_OPTIONS=x', "invalid propertyName 'NODE_OPTIONS'"],
  ['jobRouter.settings.BERTH_HTTP_PORT=1', 'settings: BERTH_HTTP_PORT is set by the chart itself'],
  ['gateway.enabled=true', "at '/gateway/parentRefs': minItems: got 0, want 1"],
  [
    'workers.networkPolicy.nodes={10.0.0.0/33}',
    "at '/workers/networkPolicy/nodes/0': '10.0.0.0/33' does not match pattern",
  ],
  ['workers.networkPolicy.nameServers={10.0.0.256/32}', "'10.0.0.256/32' does not match pattern"],
  ['workers.networkPolicy.nodes=null', "at '/workers/networkPolicy': missing property 'nodes'"],
  ['managementApi.resources.limits.memory=null', "at '/managementApi/resources/limits': missing property 'memory'"],
];

const newFolder = useTempFolders();
let programs: string;
const rendered = new Map<ValueSet, string>();
const objects = (set: ValueSet): readonly ClusterObject[] => objectsOf(rendered.get(set) ?? '');

beforeAll(async () => {
  programs = await buildHelm();
  for (const set of VALUE_SETS) rendered.set(set, await render(programs, set));
}, BUILD_MS);

/** Each Pod of each set, under a name that says which. */
const allPods = (): readonly (readonly [string, V1PodSpec])[] =>
  VALUE_SETS.flatMap((set) =>
    objects(set).flatMap((object) => {
      const pod = podOf(object);
      return pod === undefined ? [] : [[`${set} ${object.kind}/${object.metadata.name}`, pod] as const];
    }),
  );

const containersOf = (pod: V1PodSpec): readonly V1Container[] => [...(pod.initContainers ?? []), ...pod.containers];
const isAgent = (name: string): boolean => name.endsWith('-worker-agent');

test.each(VALUE_SETS)('the linter has nothing to say with the values %s', async (set) => {
  await helm(programs, 'lint', CHART, '--strict', '--values', valuesFile(set));
});

test('what it makes was reviewed, and its dashboards and alerts are those that there are (`npm run chart`)', async () => {
  await runCommand(process.execPath, [GENERATE, '--check'], { timeoutMs: BUILD_MS });
});

test('each dashboard and each file of alerts becomes a config map, whatever is written in it', async () => {
  const chart = join(await newFolder(), 'berth');
  await cp(CHART, chart, { recursive: true });
  const text = '{ "legendFormat": "{{ endpoint }}", "expr": "a\\"b" }\n';
  for (const path of ['files/dashboards/example.json', 'files/alerts/example.yaml']) {
    await mkdir(join(chart, path, '..'), { recursive: true });
    await writeFile(join(chart, path), text);
  }
  const switches = ['--set', 'monitoring.dashboards=true,monitoring.alerts=true'];
  const made = objectsOf(
    await helm(programs, 'template', 'berth', chart, '--values', valuesFile('trial'), ...switches),
  );
  const dataOf = (name: string): unknown => made.find(({ metadata }) => metadata.name === name)?.data;
  expect(dataOf('berth-dashboard-example')).toEqual({ 'example.json': text });
  expect(dataOf('berth-example')).toEqual({ 'example.yaml': text });
});

test('servers are not restarted by a version of the chart in which nothing of theirs has changed', async () => {
  const chart = join(await newFolder(), 'berth');
  await cp(CHART, chart, { recursive: true });
  const description = await readFile(join(chart, 'Chart.yaml'), 'utf8');
  await writeFile(join(chart, 'Chart.yaml'), description.replaceAll(/^(version|appVersion): .*$/gm, '$1: 99.0.0'));
  const words = ['--values', valuesFile('trial'), '--set', 'images.broker=example.com/nats-server:2.15.1'];
  const podsOf = async (folder: string): Promise<readonly unknown[]> =>
    objectsOf(await helm(programs, 'template', 'berth', folder, ...words))
      .filter(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name !== 'berth-job-router')
      .map(({ spec }) => spec?.['template']);
  const before = await podsOf(CHART);
  expect(before).toHaveLength(2);
  expect(await podsOf(chart)).toEqual(before);
});

test.each(REFUSED)('refuses %s, and says why', async (value, words) => {
  await expect(render(programs, 'trial', value)).rejects.toThrow(words);
});

describe('every Pod', () => {
  test('is confined as the level `restricted` asks, and reads only', () => {
    const pods = allPods();
    expect(pods.length).toBeGreaterThan(15);
    for (const [name, pod] of pods) {
      expect([name, pod.securityContext]).toEqual([
        name,
        expect.objectContaining({ runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } }),
      ]);
      for (const container of containersOf(pod).filter((each) => each.name !== 'own-home')) {
        expect([name, container.name, container.securityContext]).toEqual([
          name,
          container.name,
          { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        ]);
      }
    }
  });

  test('is bounded', () => {
    for (const [name, pod] of allPods()) {
      for (const { name: container, resources } of containersOf(pod)) {
        expect([name, container, resources]).toEqual([
          name,
          container,
          {
            requests: expect.objectContaining({ cpu: expect.anything(), memory: expect.anything() }),
            limits: expect.objectContaining({ memory: expect.anything() }),
          },
        ]);
      }
      const folders = (pod.volumes ?? []).flatMap(({ emptyDir }) => emptyDir ?? []);
      for (const folder of folders) expect([name, folder.sizeLimit]).toEqual([name, expect.any(String)]);
    }
  });

  test('has the network of its node and a folder of it only where it is an agent', () => {
    for (const [name, pod] of allPods()) {
      expect([name, pod.hostNetwork ?? false]).toEqual([name, isAgent(name)]);
      const paths = (pod.volumes ?? []).flatMap(({ hostPath }) => hostPath ?? []);
      expect([name, paths.length]).toEqual([name, isAgent(name) ? 1 : 0]);
      expect([name, pod.hostPID ?? false, pod.hostIPC ?? false]).toEqual([name, false, false]);
    }
  });

  test('has a token of the cluster only where it is an agent, reviews the token of one, or makes placeholders', () => {
    const withToken = (set: (typeof VALUE_SETS)[number]): readonly string[] =>
      objects(set)
        .filter((each) => podOf(each)?.automountServiceAccountToken === true)
        .map(({ metadata }) => metadata.name)
        .toSorted();
    const joining = ['berth-management-api', 'berth-worker-agent'];
    expect(Object.fromEntries(VALUE_SETS.map((set) => [set, withToken(set)]))).toEqual({
      ...{ 'own-servers': [], trial: joining, service: ['berth-controllers', ...joining] },
    });
    expect(allPods().map(([name, pod]) => [name, typeof pod.automountServiceAccountToken])).toEqual(
      allPods().map(([name]) => [name, 'boolean']),
    );
  });

  test('that stays is asked whether it lives and is ready', () => {
    for (const [name, pod] of allPods().filter(([, { restartPolicy }]) => restartPolicy === undefined)) {
      for (const { livenessProbe, name: container, readinessProbe, startupProbe } of pod.containers) {
        const probes = [livenessProbe, readinessProbe, startupProbe];
        expect([name, container, probes.every((each) => each !== undefined)]).toEqual([name, container, true]);
      }
    }
  });

  test.each([0, 15_000])('has time for a drain of %i ms', async (drainDelayMs) => {
    const made = objectsOf(await render(programs, 'service', `drainDelayMs=${String(drainDelayMs)}`));
    for (const name of ['berth-management-api', 'berth-job-router']) {
      const pod = podOf(made.find((each) => each.metadata.name === name && podOf(each) !== undefined) as ClusterObject);
      const said = pod?.containers[0]?.env?.find((each) => each.name === 'BERTH_DRAIN_DELAY_MS')?.value;
      expect(said).toBe(String(drainDelayMs));
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(drainDelayMs / 1_000 + REQUESTS_SECONDS);
    }
  });

  test('and a router for what it has under way', async () => {
    const made = objectsOf(await render(programs, 'service', 'jobRouter.drainMs=600000'));
    const isRouter = (each: ClusterObject): boolean =>
      each.kind === 'StatefulSet' && each.metadata.name === 'berth-job-router';
    const pod = podOf(made.find(isRouter) as ClusterObject);
    expect(pod?.containers[0]?.env).toContainEqual({ name: 'BERTH_DRAIN_MS', value: '600000' });
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(600 + REQUESTS_SECONDS);
  });
});

test('no secret is in what it makes: they are read from Secrets that are there', () => {
  for (const set of VALUE_SETS) expect(objects(set).map(({ kind }) => kind)).not.toContain('Secret');
});

test('agents, and who reviews their tokens, get the rights that their tests run with', async () => {
  const files = ['reviewer.yaml', 'agent.yaml'].map((file) => readFile(join(DEPLOY, file), 'utf8'));
  const tested = (await Promise.all(files)).flatMap((text) => objectsOf(text));
  const ofKind = (all: readonly ClusterObject[], kind: string): unknown =>
    all.filter((each) => each.kind === kind).map(({ rules }) => rules);
  for (const kind of ['Role', 'ClusterRole']) expect(ofKind(objects('trial'), kind)).toEqual(ofKind(tested, kind));
});

describe('what holds an agent to its own node', () => {
  const policiesOf = (made: readonly ClusterObject[]): readonly ClusterObject[] =>
    made.filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'));

  test('is there for Pods, Secrets and `exec` wherever agents are, for their account and the workers’ namespace', async () => {
    const names = ['workerAgent.namespace=nodes', 'workers.namespace=tenants'];
    const policies = policiesOf(objectsOf(await render(programs, 'trial', ...names)));
    expect(policies.map(({ kind, metadata }) => [kind, metadata.name])).toEqual(
      expect.arrayContaining(
        ['pods', 'secrets', 'exec'].flatMap((resource) => [
          ['ValidatingAdmissionPolicy', `berth-berth-worker-agent-${resource}`],
          ['ValidatingAdmissionPolicyBinding', `berth-berth-worker-agent-${resource}`],
        ]),
      ),
    );
    for (const { spec } of policies.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')) {
      expect(spec).toMatchObject({
        failurePolicy: 'Fail',
        matchConditions: [{ expression: expect.stringContaining(`'system:serviceaccount:nodes:berth-worker-agent'`) }],
      });
      expect(JSON.stringify(spec?.['validations'])).toContain(`request.namespace == 'tenants'`);
    }
    expect(policies.filter(({ spec }) => JSON.stringify(spec?.['validationActions']) === '["Deny"]')).toHaveLength(3);
  });

  test('is not there without agents, or where it is turned off', async () => {
    expect(policiesOf(objects('own-servers'))).toEqual([]);
    expect(policiesOf(objectsOf(await render(programs, 'trial', 'workerAgent.admissionPolicy.enabled=false')))).toEqual(
      [],
    );
  });
});

test('the migration is no hook, and a Job of its revision, because a Job cannot be changed', () => {
  for (const set of VALUE_SETS) {
    const jobs = objects(set).filter(({ kind }) => kind === 'Job');
    expect(jobs.map(({ metadata }) => [metadata.name, metadata.annotations])).toEqual([['berth-migrate-1', undefined]]);
  }
});
