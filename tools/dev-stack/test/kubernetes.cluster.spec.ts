import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { BASE_IMAGE } from '@berth/servers';
import {
  WORKERS_NAMESPACE,
  eventually,
  giveAgentAccess,
  useCluster,
  useContainerEngine,
  useTempFolders,
} from '@berth/testing';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { SAMPLE_IMAGE } from '../src/choose-runtime.js';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';
import { FurtherHost } from './stack/further-host.js';
import { clientPython, driveOfficialClient } from './stack/official-client.js';
import { OpenSocket } from './stack/open-socket.js';

const run = promisify(execFile);
const EXAMPLES = resolve(import.meta.dirname, '../../../examples/workers');
const WEBSOCKET = 'local/python-websocket:latest';
/** Where the only host is the node. */
const DATA_CENTER = 'EU-RO-1';
const SETUP_MS = 600_000;
const WAIT = { deadlineMs: 120_000, intervalMs: 200 };
jest.setTimeout(240_000);

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName: string; readonly automountServiceAccountToken: boolean };
  readonly status: { readonly phase: string };
}

const fixture = useCluster();
const engines = useContainerEngine({ hasBaseImage: true });
const newFolder = useTempFolders();
let stack: StartedStack;
let tenant: TenantClient;
let host: FurtherHost;

/** From the engine that builds it into the node, which no registry is needed for. */
async function putIntoNode(image: string, sample: string, folder: string): Promise<void> {
  const { engine } = engines;
  await engine.buildImage(image, join(EXAMPLES, sample), { BASE: BASE_IMAGE });
  const archive = join(folder, `${sample}.tar`);
  await run('docker', ['--host', engine.host, 'save', '--output', archive, image]);
  await fixture.cluster.loadImage(archive);
}

beforeAll(async () => {
  const folder = await newFolder();
  const { cluster } = fixture;
  const kubeconfig = join(folder, 'agent.conf');
  await giveAgentAccess(cluster, kubeconfig);
  await clientPython();
  await putIntoNode(SAMPLE_IMAGE, 'python-echo', folder);
  await putIntoNode(WEBSOCKET, 'python-websocket', folder);
  stack = await StartedStack.start(['--demo', 'off', '--runtime', 'process', '--rate-limits', 'off']);
  tenant = new TenantClient(() => stack.dev, 90_000);
  host = await FurtherHost.add(stack, tenant, {
    ...{ name: 'node', dataCenterId: DATA_CENTER },
    settings: {
      ...{ BERTH_RUNTIME: 'kubernetes', KUBECONFIG: kubeconfig, BERTH_KUBERNETES_NODE: cluster.nodeName },
      ...{ BERTH_BRIDGE_LISTEN: cluster.machineAddress, BERTH_VCPUS: '16' },
    },
  });
}, SETUP_MS);
afterAll(async () => {
  await host.remove();
  await stack.stop();
  await stack.remove();
}, SETUP_MS);

const pods = async (): Promise<readonly Pod[]> => {
  const text = await fixture.cluster.kubectl('get', 'pods', '--namespace', WORKERS_NAMESPACE, '--output=json');
  return (JSON.parse(text) as { readonly items: readonly Pod[] }).items;
};

test('a job of the published client is done by a Pod, which goes with its endpoint', async () => {
  const { body, status } = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name: 'echo', type: 'QUEUE', image: SAMPLE_IMAGE, cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
    ...{ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 0, max: 1 } },
    dataCenterIds: [DATA_CENTER],
  });
  expect(status).toBe(201);
  const report = await driveOfficialClient(stack.dev, body.id);
  expect(report).toMatchObject({ status: 'COMPLETED', after_cancel: 'CANCELLED' });
  const node = fixture.cluster.nodeName;
  expect(await pods()).toMatchObject([{ spec: { nodeName: node, automountServiceAccountToken: false } }]);
  expect((await tenant.manage('DELETE', `/v2/serverless/${body.id}`)).status).toBe(204);
  await eventually(async () => expect(await pods()).toEqual([]), WAIT);
});

test('a WebSocket reaches a Pod through the door of load-balanced endpoints', async () => {
  const endpoint = await BalancedEndpoint.create(stack, {
    ...{ image: WEBSOCKET, requestCount: 2, workers: { min: 0, max: 1, idleTimeout: 1 } },
    dataCenterIds: [DATA_CENTER],
  });
  const socket = await OpenSocket.open(endpoint);
  expect(await socket.say('ahoy')).toBe('ahoy');
  socket.cut();
  await endpoint.remove();
  await eventually(async () => expect(await pods()).toEqual([]), WAIT);
});
