import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { EndpointSpec } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, ensureTopology } from '@berth/messaging';
import { systemProcess } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useCluster } from '@berth/testing/containers';
import { useTempFolders } from '@berth/testing/folders';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { startControllers } from '../../src/controllers/compose.js';
import { loadControllersConfig } from '../../src/controllers/config.js';
import { EndpointEntity } from '../../src/persistence/entities/index.js';
import { GIB, SPEC, useFleetBench } from '../fleet-bench.js';

const DEPLOY = resolve(import.meta.dirname, '../../../../deploy/kubernetes');
const SETUP_MS = 240_000;
const WAIT = { deadlineMs: 90_000, intervalMs: 200 };
const GPUS: EndpointSpec = {
  ...SPEC,
  cpu: null,
  gpu: { pools: ['ADA_24'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
  workers: { min: 2, max: 3, idleTimeoutSeconds: null },
};

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly priority: number;
    readonly nodeName?: string;
    readonly automountServiceAccountToken: boolean;
    readonly containers: readonly { readonly resources: { readonly requests: Readonly<Record<string, string>> } }[];
  };
  readonly status: { readonly phase: string; readonly conditions?: readonly { readonly reason?: string }[] };
}

const fixture = useCluster();
const nats = useNatsServer();
const fleet = useFleetBench();
const newFolder = useTempFolders();
const kubectl = (...words: readonly string[]): Promise<string> => fixture.cluster.kubectl(...words);
const stops: (() => Promise<void> | void)[] = [];
let kubeconfig: string;
jest.setTimeout(SETUP_MS);

beforeAll(async () => {
  for (const file of ['agent.yaml', 'placeholders.yaml']) await kubectl('apply', '--filename', join(DEPLOY, file));
  await kubectl('wait', '--for=create', 'serviceaccount/default', '-n', 'berth-workers', '--timeout=30s');
  const token = await kubectl('create', 'token', 'berth-placeholders', '-n', 'berth-agents', '--duration=1h');
  const config = JSON.parse(await kubectl('config', 'view', '--raw', '--output=json')) as {
    users: { user: unknown }[];
  };
  for (const each of config.users) each.user = { token: token.trim() };
  kubeconfig = join(await newFolder(), 'config');
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
}, SETUP_MS);

beforeEach(async () => {
  const broker = await Broker.over({ connection: await nats.connect() });
  const size = { replicas: 1, storageBytes: 2 ** 30, memoryBytes: 2 ** 26 } as const;
  await ensureTopology({ broker, part: 'snapshots', size, clock: systemClock, random: systemRandom });
  const config = loadControllersConfig({
    ...{ BERTH_NATS_URL: nats.server.url, BERTH_DATABASE_URL: fleet.url, BERTH_OPERATIONS_PORT: '0' },
    ...{ KUBECONFIG: kubeconfig, BERTH_LOG_LEVEL: 'error', BERTH_PLACEHOLDERS: 'on' },
    ...{ BERTH_PLACEHOLDER_IMAGE: 'local/nowhere:1', BERTH_PLACEHOLDER_PRIORITY_CLASS: 'berth-placeholders' },
    ...{ BERTH_PLACEHOLDER_PLACE: '{"nodeSelector":{"kubernetes.io/os":"linux"}}' },
  });
  const main = {
    onStop: (_name: string, stop: () => Promise<void> | void) => stops.push(stop),
    logTo: () => undefined,
    fail: (error: unknown) => {
      throw error;
    },
  };
  await startControllers(config, systemProcess(main, 'controllers', config));
}, SETUP_MS);
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, SETUP_MS);

const pods = async (): Promise<readonly Pod[]> => {
  const words = ['get', 'pods', '-n', 'berth-workers', '--selector', 'berth.role=placeholder', '--output=json'];
  const { items } = JSON.parse(await kubectl(...words)) as { readonly items: readonly Pod[] };
  return items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
};

const allow = (min: number): Promise<unknown> =>
  fleet.source
    .getRepository(EndpointEntity)
    .update({ id: 'e1' }, { spec: { ...GPUS, workers: { ...GPUS.workers, min } } });

/** What a new node of an autoscaler would have. */
async function giveGpus(count: number): Promise<void> {
  const name = fixture.cluster.nodeName;
  await kubectl('label', 'node', name, 'nvidia.com/gpu.product=NVIDIA-GeForce-RTX-4090', '--overwrite');
  const patch = JSON.stringify({ status: { capacity: { 'nvidia.com/gpu': String(count) } } });
  await kubectl('patch', 'node', name, '--subresource=status', '--type=merge', '--patch', patch);
}

test('workers without a place have placeholders that no node takes, until one comes or they are wanted no more', async () => {
  await fleet.addEndpoint('e1', GPUS);
  const [memory, disk] = [String(GIB), String(10 * GIB)];
  const requests = { cpu: '1', memory, 'ephemeral-storage': disk, 'nvidia.com/gpu': '1' };
  await eventually(async () => {
    const waiting = {
      spec: { priority: -10, automountServiceAccountToken: false, containers: [{ resources: { requests } }] },
      status: { phase: 'Pending', conditions: [{ reason: 'Unschedulable' }] },
    };
    expect(await pods()).toMatchObject([
      { metadata: { name: 'placeholder-e1-0' }, ...waiting },
      { metadata: { name: 'placeholder-e1-1' }, ...waiting },
    ]);
  }, WAIT);
  await giveGpus(1);
  await eventually(async () => {
    const nodes = (await pods()).map(({ spec }) => spec.nodeName ?? '');
    expect(nodes.toSorted()).toEqual(['', fixture.cluster.nodeName]);
  }, WAIT);
  await allow(1);
  await eventually(async () => {
    expect((await pods()).map(({ metadata }) => metadata.name)).toEqual(['placeholder-e1-0']);
  }, WAIT);
  await allow(0);
  await eventually(async () => expect(await pods()).toEqual([]), WAIT);
});
