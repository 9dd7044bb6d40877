import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { WORKERS_NAMESPACE, useCluster } from '@berth/testing/containers';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { giveGpus, makeSmallRoot, openClusterBench, type ClusterBench } from '../../../test/cluster-bench.js';
import { PROBE_SCRIPT, containerRuntimeConformance } from '../container-runtime.conformance.js';
import type { ContainerStart, OwnedContainer } from '../container-runtime.port.js';
import { ClusterApi } from '@berth/cluster-api';
import type { KubernetesRuntime } from './kubernetes-runtime.js';

const SLOW = { deadlineMs: 90_000 };
const TEST_TIMEOUT_MS = 240_000;
const PROBE = 'local/probe:1';
const MIB = 1024 * 1024;

const fixture = useCluster();
const newFolder = useTempFolders();
let bench: ClusterBench;

beforeAll(async () => {
  const folder = await newFolder();
  const { cluster } = fixture;
  bench = await openClusterBench(cluster, folder);
  await cluster.makeImage(PROBE, await makeSmallRoot(folder), {
    Entrypoint: ['/bin/sh', '-c', PROBE_SCRIPT, 'probe'],
    Env: ['PATH=/bin'],
  });
  await giveGpus(cluster, 'NVIDIA-L4', 2);
}, TEST_TIMEOUT_MS);

containerRuntimeConformance(
  'kubernetes',
  async () => ({
    ...{ gpuTypeId: 'NVIDIA L4', areGpusSimulated: false, keepsVcpus: true },
    ...{ probeImage: PROBE, missingImage: 'local/nothing:latest' },
    newFolder: () => mkdtemp(join(bench.volumesFolder, 'volume-')),
    open: () => bench.open('host1'),
    close: async () => undefined,
  }),
  { canPause: false, isTakenAwayWhenGone: true },
);

describe('kubernetes', () => {
  const W1 = 'w1' as WorkerId;
  const W2 = 'w2' as WorkerId;
  const POD = `pod/berth-${W1}`;
  let runtime: KubernetesRuntime;

  beforeAll(async () => {
    runtime = await bench.open('host2');
  }, TEST_TIMEOUT_MS);
  afterEach(async () => {
    for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
  }, TEST_TIMEOUT_MS);
  afterAll(() => runtime.close());

  const startOf = (workerId: WorkerId, more: Partial<ContainerStart> = {}, image = PROBE): ContainerStart => ({
    labels: { hostId: 'host2' as HostId, workerId, endpointId: 'endpoint1' as EndpointId, release: 1, image },
    args: ['wait'],
    env: {},
    limits: { vcpus: 64, memoryBytes: 64 * MIB, diskBytes: null },
    gpu: null,
    ...more,
  });
  const small = { vcpus: 0.1, memoryBytes: 64 * MIB, diskBytes: null };
  const kubectl = (...words: readonly string[]): Promise<string> =>
    fixture.cluster.kubectl('--namespace', WORKERS_NAMESPACE, ...words);
  const ended = (workerId: WorkerId): Promise<OwnedContainer> =>
    eventually(async () => {
      const container = await runtime.inspect(workerId);
      if (container?.state.kind !== 'ended') throw new Error(`${workerId} has not ended`);
      return container;
    }, SLOW);

  test(
    'a worker is a Pod of its node with no login of the cluster, no more processors than there are, and goes with its node',
    async () => {
      await runtime.start(startOf(W1));
      const pod = JSON.parse(await kubectl('get', POD, '--output=json')) as {
        metadata: unknown;
        spec: { containers: unknown[] };
      };
      expect(pod).toMatchObject({
        metadata: { ownerReferences: [{ kind: 'Node', name: fixture.cluster.nodeName }] },
        spec: {
          ...{ nodeName: fixture.cluster.nodeName, automountServiceAccountToken: false, enableServiceLinks: false },
          ...{ restartPolicy: 'Never', securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
        },
      });
      expect(pod.spec.containers[0]).toMatchObject({
        resources: { limits: { cpu: '2', memory: String(64 * MIB) }, requests: { cpu: '2', memory: String(64 * MIB) } },
        securityContext: { privileged: false, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a worker that takes more memory than it may ends as out of memory',
    async () => {
      await runtime.start(startOf(W1, { args: ['hoard', String(128 * MIB)], limits: small }));
      expect((await ended(W1)).state).toMatchObject({
        exit: { cause: 'out-of-memory', detail: expect.stringContaining('its limit is 64 MiB') },
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a Pod that somebody else deletes, or a drain of the node evicts, is no fault of its worker',
    async () => {
      await runtime.start(startOf(W1, { limits: small }));
      await kubectl('delete', POD, '--wait=false');
      expect((await ended(W1)).state).toMatchObject({ exit: { cause: 'evicted' } });
      await runtime.remove(W1);
      await runtime.start(startOf(W1, { limits: small }));
      await fixture.cluster.kubectl('drain', fixture.cluster.nodeName, '--force', '--delete-emptydir-data');
      await fixture.cluster.kubectl('uncordon', fixture.cluster.nodeName);
      expect((await ended(W1)).state).toMatchObject({ exit: { cause: 'evicted' } });
      expect(await runtime.list()).toHaveLength(1);
      await runtime.remove(W1);
      expect(await runtime.list()).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a worker whose Pod goes is told as such while it runs, and gets no second signal',
    async () => {
      await runtime.start(startOf(W1, { args: ['stubborn'], limits: small }));
      expect(await runtime.inspect(W1)).not.toHaveProperty('isTakenAway');
      await kubectl('delete', POD, '--wait=false', '--grace-period=30');
      const goes = { state: { kind: 'running' }, isTakenAway: true };
      await eventually(async () => expect(await runtime.inspect(W1)).toMatchObject(goes), SLOW);
      await runtime.stop(W1, 10_000);
      expect(await runtime.inspect(W1)).toMatchObject(goes);
      await runtime.remove(W1);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a Pod that its kubelet refuses is told with the reason, and nothing is left',
    async () => {
      const huge = startOf(W2, { limits: { ...small, memoryBytes: 2 ** 50 } });
      await expect(runtime.start(huge)).rejects.toMatchObject({ reason: 'out-of-memory' });
      await runtime.start(startOf(W1));
      const refused = runtime.start(startOf(W2));
      await expect(refused).rejects.toMatchObject({ reason: 'no-room', isTemporary: true });
      expect(await kubectl('get', 'pods', '--output=name')).toBe(`${POD}\n`);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a Pod that its node does not begin with is told with what its kubelet complains of, and goes once nobody wants it',
    async () => {
      const file = join(await newFolder(), 'runtime-class.json');
      const described = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'unknown' } };
      await writeFile(file, JSON.stringify({ ...described, handler: 'unknown' }));
      await kubectl('create', '--filename', file);
      const other = await bench.open('host4', { around: { runtimeClass: 'unknown' } });
      const breaking = new AbortController();
      const told: (string | null)[] = [];
      const start = startOf(W2, { limits: small });
      const broken = other
        .start(
          { ...start, labels: { ...start.labels, hostId: 'host4' as HostId } },
          { signal: breaking.signal, onHeldUp: (reason) => told.push(reason) },
        )
        .catch((error: unknown) => error);
      await eventually(() => expect(told[0]).toContain('FailedCreatePodSandBox'), { deadlineMs: 90_000 });
      breaking.abort();
      expect(await broken).toMatchObject({ reason: 'cancelled' });
      expect(await kubectl('get', 'pods', '--output=name')).toBe('');
      await other.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a copy of the Pod of a worker is no worker, and goes',
    async () => {
      const original = await runtime.start(startOf(W1, { limits: small }));
      const { metadata, spec } = JSON.parse(await kubectl('get', POD, '--output=json')) as {
        metadata: { labels: object; annotations: object };
        spec: object;
      };
      const { annotations, labels } = metadata;
      const copy = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'copy', annotations, labels }, spec };
      const file = join(await newFolder(), 'copy.json');
      await writeFile(file, JSON.stringify(copy));
      expect(await kubectl('create', '--filename', file)).toContain('pod/copy');
      await eventually(async () => expect(await kubectl('get', 'pods', '--output=name')).toBe(`${POD}\n`), SLOW);
      expect(await runtime.list()).toMatchObject([{ containerId: original.containerId }]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a placeholder on the node takes no room, and makes way for a worker',
    async () => {
      const limits = { 'nvidia.com/gpu': '2', cpu: '1', memory: '64Mi' };
      const placeholder = {
        ...{
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'placeholder-e1-0', labels: { 'berth.role': 'placeholder' } },
        },
        spec: {
          ...{ nodeName: fixture.cluster.nodeName, terminationGracePeriodSeconds: 1 },
          containers: [{ name: 'placeholder', image: PROBE, command: ['sleep', '1000'], resources: { limits } }],
        },
      };
      const file = join(await newFolder(), 'placeholder.json');
      await writeFile(file, JSON.stringify(placeholder));
      await kubectl('create', '--filename', file);
      await kubectl('wait', '--for=condition=Ready', 'pod/placeholder-e1-0', '--timeout=60s');
      expect((await runtime.inventory()).gpus).toHaveLength(2);
      await runtime.start(startOf(W1, { limits: small, gpu: { typeId: 'NVIDIA L4', count: 2 } }));
      expect(await kubectl('get', 'pods', '--output=name')).toBe(`${POD}\n`);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a node that is cordoned gets neither worker nor image, and keeps the workers that it has',
    async () => {
      await runtime.start(startOf(W1, { limits: small }));
      await fixture.cluster.kubectl('cordon', fixture.cluster.nodeName);
      const refused = runtime.start(startOf(W2, { limits: small }));
      await expect(refused).rejects.toMatchObject({ reason: 'no-room', isTemporary: true });
      const unknown = runtime.prepare({ image: 'local/unknown:1', credentials: null });
      await expect(unknown).rejects.toMatchObject({ reason: 'no-room', isTemporary: true });
      await fixture.cluster.kubectl('uncordon', fixture.cluster.nodeName);
      await runtime.start(startOf(W2, { limits: small }));
      expect((await runtime.list()).map(({ state }) => state.kind)).toEqual(['running', 'running']);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'what is wrong with an image is told as such, and neither Pod nor credentials are left',
    async () => {
      const credentials = { username: 'somebody', password: 'secret' };
      const unreachable = runtime.prepare({ image: '127.0.0.1:9/nothing:1', credentials });
      await expect(unreachable).rejects.toMatchObject({ reason: 'image-unreachable', isTemporary: true });
      const nameless = runtime.prepare({ image: 'no/../name', credentials: null });
      await expect(nameless).rejects.toMatchObject({ reason: 'image-missing' });
      expect(await kubectl('get', 'pods,secrets', '--output=name')).toBe('');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a program that the image lacks is told with words, and one without a shell is stopped all the same',
    async () => {
      const folder = await newFolder();
      const root = await makeSmallRoot(folder);
      await rm(join(root, 'bin', 'sh'));
      const images = fixture.cluster;
      await images.makeImage('local/broken:1', root, { Entrypoint: ['/no/such/program'] });
      await images.makeImage('local/shell-less:1', root, { Entrypoint: ['/bin/sleep', '1000'] });
      const broken = runtime.start(startOf(W1, { args: [], limits: small }, 'local/broken:1'));
      await expect(broken).rejects.toMatchObject({
        reason: 'start-failed',
        message: expect.stringContaining('/no/such'),
      });
      await runtime.start(startOf(W1, { args: [], limits: small }, 'local/shell-less:1'));
      await runtime.stop(W1, 10_000);
      expect((await ended(W1)).state).toMatchObject({ exit: { code: 143, cause: 'killed' } });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a worker reaches its host by name',
    async () => {
      const server = createServer((_, response) => response.end('bridge'));
      await new Promise<void>((resolve) => server.listen(0, fixture.cluster.machineAddress, resolve));
      const { port } = server.address() as AddressInfo;
      const ask = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc berth-host ${String(port)}`;
      const asker = { args: ['asks', ask], limits: small };
      await fixture.cluster.makeImage('local/asker:1', await makeSmallRoot(await newFolder()), {
        ...{ Entrypoint: ['/bin/sh', '-c', 'eval "$1"'], Env: ['PATH=/bin'] },
      });
      await runtime.start(startOf(W1, asker, 'local/asker:1'));
      await ended(W1);
      expect((await runtime.logs(W1, 20)).at(-1)).toBe('bridge');
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'Pods of another host on the same node are none of this one',
    async () => {
      const other = await bench.open('host3');
      const start = startOf(W2, { limits: small });
      await other.start({ ...start, labels: { ...start.labels, hostId: 'host3' as HostId } });
      expect(await runtime.list()).toEqual([]);
      await runtime.kill(W2);
      await runtime.remove(W2);
      expect(await other.inspect(W2)).toMatchObject({ state: { kind: 'running' } });
      await other.remove(W2);
      await other.close();
    },
    TEST_TIMEOUT_MS,
  );

  test('an API that does not answer, or not to this agent, is told as such', async () => {
    const config = new KubeConfig();
    const away = { name: 'away', server: 'https://127.0.0.1:9', skipTLSVerify: false };
    config.loadFromClusterAndUser(away, { name: 'nobody' });
    const api = new ClusterApi({ config, clock: systemClock });
    await expect(bench.open('host2', { api })).rejects.toMatchObject({ reason: 'runtime-unavailable' });
  });
});
