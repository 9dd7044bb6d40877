import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { hostSubject } from '@berth/contracts';
import { ATTEMPT_LEASE_MS, type HostId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { WORKERS_NAMESPACE, useCluster } from '@berth/testing/containers';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { TenantClient } from '../src/tenant-client.js';
import { BrokerLine } from './chart/broker-line.js';
import { buildHelm, objectsOf, render, VALUE_SETS } from './chart/helm-chart.js';
import { InstalledChart } from './chart/installed-chart.js';
import { attemptsOf } from './chart/job-attempts.js';
import { namedKeys, SECRET_KEYS } from './chart/secret-keys.js';
import { SteadyCallers } from './chart/steady-callers.js';
import { BALANCED, ECHO, putImagesIntoNode } from './chart/whole-images.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';
import { clientPython, driveOfficialClient } from './stack/official-client.js';
import { OpenSocket } from './stack/open-socket.js';

const MANIFEST = resolve(import.meta.dirname, '../../../package.json');
const VERSION = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string }).version;
const NEXT_VERSION = '99.0.0';
const SETUP_MS = 1_800_000;
const WAIT = { deadlineMs: 120_000, intervalMs: 250 };
/** More than a Pod is given to leave. */
const DRAINED_SECONDS = 12;
/** Kinds that this cluster does not know. */
const FOREIGN = ['ServiceMonitor', 'HTTPRoute'];
const OURS = 'app.kubernetes.io/instance=berth';
const KINDS =
  'pods,deployments,daemonsets,statefulsets,jobs,services,configmaps,poddisruptionbudgets,networkpolicies,serviceaccounts,' +
  'roles,rolebindings,clusterroles,clusterrolebindings,priorityclasses,validatingadmissionpolicies,validatingadmissionpolicybindings,persistentvolumeclaims';
const IMAGES_OF_PODS = "--output=jsonpath={range .items[*]}{.spec.containers[0].image}{'\\n'}{end}";
jest.setTimeout(900_000);

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly creationTimestamp: string };
  readonly spec: { readonly nodeName: string; readonly automountServiceAccountToken: boolean };
  readonly status: {
    readonly podIP: string;
    readonly conditions: readonly { readonly type: string; readonly lastTransitionTime: string }[];
  };
}

const fixture = useCluster({ isInMemory: true });
const newFolder = useTempFolders();
let programs: string;
let chart: InstalledChart;
let tenant: TenantClient;
let queueId: string;
let balanced: BalancedEndpoint;

// The tests below are one story, in their order.
beforeAll(async () => {
  const home = await newFolder();
  const { cluster } = fixture;
  programs = await buildHelm();
  await clientPython();
  await putImagesIntoNode(cluster, { folder: await newFolder(), from: VERSION, to: NEXT_VERSION });
  chart = new InstalledChart({ cluster, programs, home });
  await chart.prepare();
  tenant = new TenantClient(() => chart.dev, 90_000);
}, SETUP_MS);

const podsIn = async (namespace: string, ...words: readonly string[]): Promise<readonly Pod[]> => {
  const text = await chart.kubectl('get', 'pods', '--namespace', namespace, '--output=json', ...words);
  return (JSON.parse(text) as { readonly items: readonly Pod[] }).items;
};
const workers = (): Promise<readonly Pod[]> => podsIn(WORKERS_NAMESPACE, '--selector=berth.role=worker');

describe('the API server', () => {
  const textsOf = async (set: (typeof VALUE_SETS)[number]): Promise<readonly string[]> =>
    (await render(programs, set)).split(/^---$/m);
  const isOf = (text: string, kind: string): boolean => text.includes(`\nkind: ${kind}\n`);
  const write = async (texts: readonly string[]): Promise<string> => {
    const file = join(await newFolder(), 'objects.yaml');
    await writeFile(file, texts.join('---'));
    return file;
  };
  let classes: string;
  // A Pod is refused, in a dry run too, whose class is not there.
  beforeAll(async () => {
    classes = await write((await textsOf('trial')).filter((text) => isOf(text, 'PriorityClass')));
    await chart.kubectl('apply', '--server-side', '--filename', classes);
  });
  afterAll(async () => void (await chart.kubectl('delete', '--filename', classes)));

  test.each(VALUE_SETS)('takes what is made of the values %s, and has no warning for it', async (set) => {
    const known = (await textsOf(set)).filter((text) => !FOREIGN.some((kind) => isOf(text, kind)));
    const words = ['apply', '--server-side', '--dry-run=server', '--warnings-as-errors', '--filename'];
    const said = await chart.kubectl(...words, await write(known));
    expect(said.trim().split('\n')).toHaveLength(objectsOf(known.join('---')).length);
  });
});

test('Secrets of what `berth init` wrote have every key that a Pod names, and making them again changes nothing', async () => {
  const secrets = (): Promise<string> => chart.kubectl('get', 'secrets', '--all-namespaces', SECRET_KEYS);
  const before = await secrets();
  const named = (await chart.rendered()).flatMap(namedKeys);
  expect(named.length).toBeGreaterThan(10);
  expect(before.split('\n')).toEqual(expect.arrayContaining(named));
  await chart.makeSecrets();
  expect(await secrets()).toBe(before);
});

test('an install says what to do next, and its test runs a job on a Pod', async () => {
  expect(await chart.install()).toContain('/v2/hosts');
  expect(await chart.test()).toMatch(/berth-first-job\n(.+\n){2}Phase: +Succeeded/);
  await eventually(async () => expect(await workers()).toEqual([]), WAIT);
});

test('a job of the published client is done by a Pod', async () => {
  const { body, status } = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name: 'echo', type: 'QUEUE', image: ECHO, cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
    ...{ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 1, max: 1 } },
  });
  expect(status).toBe(201);
  queueId = body.id;
  expect(await driveOfficialClient(chart.dev, queueId)).toMatchObject({
    ...{ status: 'COMPLETED', after_cancel: 'CANCELLED' },
  });
  const spec = { nodeName: fixture.cluster.nodeName, automountServiceAccountToken: false };
  expect(await workers()).toMatchObject([{ spec }]);
});

test('a WebSocket reaches a Pod by the domain of load-balanced endpoints', async () => {
  balanced = await BalancedEndpoint.create(chart, {
    ...{ image: BALANCED, requestCount: 2, workers: { min: 1, max: 1, idleTimeout: 1 }, env: { PORT: '8080' } },
  });
  const socket = await OpenSocket.open(balanced);
  expect(await socket.say('ahoy')).toBe('ahoy');
  socket.cut();
});

describe('a broker', () => {
  const NAME = 'berth-broker-1.berth-broker.berth.svc';
  let address: string;
  let line: BrokerLine;
  beforeAll(async () => {
    const label = 'statefulset.kubernetes.io/pod-name=berth-broker-1';
    const [pod] = await podsIn('berth', `--selector=${label}`);
    address = pod?.status.podIP ?? '';
  });
  afterEach(() => line.cut());
  const encrypted = async (): Promise<BrokerLine> => BrokerLine.encrypted(address, NAME, await chart.authority());

  test('says nothing in the clear', async () => {
    line = await BrokerLine.plain(address);
    line.say('CONNECT {"verbose":true}', 'PING');
    expect(await line.ends()).not.toMatch(/INFO|PONG/);
  });

  test('lets in nobody without credentials', async () => {
    line = await encrypted();
    line.say('CONNECT {"verbose":true}', 'PING');
    expect(await line.ends()).toContain(`-ERR 'Authorization Violation'`);
  });

  test('keeps an agent to its own subjects', async () => {
    const { token } = await chart.inviteHost('nowhere');
    line = await encrypted();
    line.say(`CONNECT ${JSON.stringify({ user: 'join', pass: token, verbose: false })}`, 'PING');
    await line.hears('PONG');
    const foreign = hostSubject('somebody-else' as HostId, 'report');
    line.say(`PUB ${foreign} 2`, '{}', 'PUB log.0.endpoint 2', '{}', 'PING');
    expect(await line.hears(`Permissions Violation for Publish to "log.0.endpoint"`)).toContain(
      `Publish to "${foreign}"`,
    );
  });
});

const HOST_AWAY = 'lost: worker lost: its host stopped answering';

/** How long it took until the present agent was there. */
async function agentAwayMs(): Promise<number> {
  const [agent] = await podsIn('berth-agents');
  const ready = agent?.status.conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
  return Date.parse(ready) - Date.parse(agent?.metadata.creationTimestamp ?? '');
}

test('an upgrade fails nobody who tries again when told so, and costs no job an attempt', async () => {
  const load = new SteadyCallers({ tenant, endpointId: queueId, balanced, callers: 2 });
  await load.goOn();
  const before = await workers();
  await chart.upgrade(NEXT_VERSION);
  await load.goOn();
  await load.end();
  const awayMs = await agentAwayMs();
  process.stdout.write(
    `upgrade: ${load.jobs.size} jobs, ${load.answered} requests; the agent was away for ${awayMs} ms; tried again: ` +
      `${load.triedAgain.join('\n') || 'never'}\n`,
  );
  expect(load.failures).toEqual([]);
  const attempts = await Promise.all([...load.jobs.keys()].map((id) => attemptsOf(tenant, queueId, id)));
  // On a machine that is too slow an agent is away for longer than a lease, and who ran there must run again.
  const isSlow = awayMs >= ATTEMPT_LEASE_MS;
  expect(attempts.map((each) => each.filter((how) => !isSlow || how !== HOST_AWAY))).toEqual(
    attempts.map(() => ['COMPLETED']),
  );
  // Nor a worker.
  expect((await workers()).map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
  const versions = await chart.kubectl('get', 'pods', '--namespace=berth', '--selector', OURS, IMAGES_OF_PODS);
  expect(versions).not.toContain(`:${VERSION}`);
});

test('a drain of the node costs a job that a Pod has no attempt', async () => {
  interface Job {
    readonly id: string;
    readonly status: string;
  }
  const input = { sleep: DRAINED_SECONDS };
  const { body } = await tenant.job<Job>('POST', `/${queueId}/run`, { input });
  const look = async (): Promise<Job> => (await tenant.job<Job>('GET', `/${queueId}/status/${body.id}`)).body;
  await eventually(async () => expect(await look()).toMatchObject({ status: 'IN_PROGRESS' }), WAIT);
  const words = ['--pod-selector=berth.role', '--ignore-daemonsets', '--force', '--delete-emptydir-data'];
  await chart.kubectl('drain', fixture.cluster.nodeName, '--timeout=100s', ...words);
  expect(await workers()).toEqual([]);
  await chart.kubectl('uncordon', fixture.cluster.nodeName);
  await eventually(async () => expect(await look()).toMatchObject({ status: 'COMPLETED' }), WAIT);
  expect(await look()).not.toHaveProperty('retries');
  const evicted = expect.stringMatching(/^lost: .*taken away by the cluster/);
  expect(await attemptsOf(tenant, queueId, body.id)).toEqual([evicted, 'COMPLETED']);
});

test('an uninstall leaves the claim that is to stay, and nothing else', async () => {
  await balanced.remove();
  await tenant.manage('DELETE', `/v2/serverless/${queueId}`);
  await eventually(async () => expect(await workers()).toEqual([]), WAIT);
  await chart.uninstall();
  const leftovers = (): Promise<string> =>
    chart.kubectl('get', KINDS, '--all-namespaces', '--selector', OURS, '--output=name');
  await eventually(
    async () => expect(await leftovers()).toBe('persistentvolumeclaim/database-berth-postgres-0\n'),
    WAIT,
  );
});
