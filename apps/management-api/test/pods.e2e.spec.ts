import { beforeAll, describe, expect, test } from '@jest/globals';
import type { AccountId, ClusterId, Pod, PodStatus } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { Database } from '../src/persistence/database.js';
import { ClustersStore } from '../src/clusters/clusters.store.js';
import { PodsStore } from '../src/pods/pods.store.js';
import { each, failedPaths, useManagementApi } from './management-bench.js';
import { CREATED_AT_MS, member, sampleCluster, samplePod } from './pod-samples.js';

const bench = useManagementApi();

let pods: PodsStore;
let foreignKey: string;
let foreignAccountId: AccountId;
let registryId: string;
let volumeId: string;

const insert = (pod: Pod): Promise<void> => pods.insert(pod);

beforeAll(async () => {
  const database = new Database(bench.source);
  pods = new PodsStore(database);
  const { body: account } = await bench.call('POST /v2/accounts', { body: { name: 'other' } });
  foreignKey = account.apiKey.key;
  foreignAccountId = account.id;
  const registry = { name: 'r', username: 'u', password: 'p' };
  registryId = (await bench.call('POST /v2/registries', { body: registry })).body.id;
  const volume = { name: 'v', size: 10, dataCenter: 'LOCAL-1' };
  volumeId = (await bench.call('POST /v2/network-volumes', { body: volume })).body.id;
  await new ClustersStore(database).insert(sampleCluster('c1'));
});

describe('GET /v2/pods/{id}', () => {
  test('200 with a GPU pod of which everything is known', async () => {
    const startedAtMs = systemClock.nowMs() - 60_000;
    await insert(
      samplePod('full', {
        name: 'trainer',
        container: {
          image: 'registry.example.com/trainer:2',
          args: '--epochs 3',
          diskGb: 50,
          env: { TOKEN: 'hush', MODEL: 'm' },
          ports: ['22/tcp', '8888/http'],
          registryId,
        },
        compute: { kind: 'gpu', typeId: 'NVIDIA L4', count: 2 },
        persistentMount: { sizeGb: 20, path: '/workspace' },
        networkMounts: [{ volumeId, path: '/data' }],
        dataCenterId: 'LOCAL-1',
        cudaVersion: '12.4',
        status: 'RUNNING',
        sshProxy: { host: 'ssh.example.com', port: 22, username: 'full-1' },
        sshDirect: { host: '192.0.2.7', port: 40_022, username: 'root' },
        templateId: 't1',
        costUsdPerHour: 1.25,
        isLocked: true,
        globalNetwork: { ip: '10.65.1.42', internalDns: 'full.pods.internal' },
        runtime: {
          gpus: [
            { utilPercent: 94, memoryUtilPercent: 78 },
            { utilPercent: 0, memoryUtilPercent: 1 },
          ],
          cpuUtilPercent: 35,
          memoryUtilPercent: 40,
          ports: [
            { privatePort: 22, publicPort: 40_022, type: 'tcp', ip: '192.0.2.7' },
            { privatePort: 8888, publicPort: null, type: 'http', ip: null },
          ],
        },
        startedAtMs,
        membership: { clusterId: 'c1' as ClusterId, rank: 0, ip: '10.65.0.2', role: 'RAY_HEAD' },
      }),
    );
    const { body, status } = await bench.call('GET /v2/pods/full');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'full',
      name: 'trainer',
      status: 'RUNNING',
      reason: '',
      actions: ['stop', 'restart', 'terminate'],
      image: 'registry.example.com/trainer:2',
      args: '--epochs 3',
      disk: 50,
      mounts: { persistent: { size: 20, path: '/workspace' }, network: [{ volumeId, path: '/data' }] },
      env: { TOKEN: 'hush', MODEL: 'm' },
      ports: ['22/tcp', '8888/http'],
      registry: registryId,
      gpu: { id: 'NVIDIA L4', count: 2 },
      cloud: 'SECURE',
      dataCenterId: 'LOCAL-1',
      cudaVersion: '12.4',
      ssh: {
        proxy: { host: 'ssh.example.com', port: 22, username: 'full-1', command: 'ssh full-1@ssh.example.com' },
        direct: { host: '192.0.2.7', port: 40_022, username: 'root', command: 'ssh root@192.0.2.7 -p 40022' },
      },
      template: 't1',
      cost: 1.25,
      locked: true,
      globalNetworking: { enabled: true, ip: '10.65.1.42', internalDns: 'full.pods.internal' },
      runtime: {
        uptime: expect.any(Number),
        gpus: [
          { util: 94, memoryUtil: 78 },
          { util: 0, memoryUtil: 1 },
        ],
        cpu: { util: 35 },
        memory: { util: 40 },
        ports: [
          { private: 22, public: 40_022, type: 'tcp', ip: '192.0.2.7' },
          { private: 8888, public: null, type: 'http', ip: null },
        ],
      },
      createdAt: new Date(CREATED_AT_MS).toISOString(),
      startedAt: new Date(startedAtMs).toISOString(),
      cluster: { id: 'c1', rank: 0, ip: '10.65.0.2', role: 'RAY_HEAD' },
    });
    expect(body.runtime.uptime).toBeGreaterThanOrEqual(60);
    expect(body.runtime.uptime).toBeLessThan(120);
  });

  test('200 with a CPU pod of which nothing more is known', async () => {
    const compute = { kind: 'cpu', flavorId: 'cpu3c', vcpuCount: 4, memoryGb: 8 } as const;
    await insert(samplePod('bare', { compute, reason: 'no host has 4 vCPU free' }));
    const { body } = await bench.call('GET /v2/pods/bare');
    expect(body).toEqual({
      id: 'bare',
      name: 'bare',
      status: 'PROVISIONING',
      reason: 'no host has 4 vCPU free',
      actions: ['stop', 'terminate'],
      image: 'local/echo',
      args: '',
      disk: 20,
      mounts: {},
      env: {},
      ports: [],
      registry: null,
      cpu: { id: 'cpu3c', vcpuCount: 4, memory: 8 },
      cloud: 'SECURE',
      dataCenterId: null,
      cudaVersion: null,
      ssh: { proxy: null, direct: null },
      template: null,
      cost: 0,
      locked: false,
      globalNetworking: { enabled: false },
      runtime: null,
      createdAt: new Date(CREATED_AT_MS).toISOString(),
      startedAt: null,
    });
  });

  const runtime = { gpus: [], cpuUtilPercent: 1, memoryUtilPercent: 1, ports: [] };
  test.each<[PodStatus, { actions: string[]; cost: number; isMeasured: boolean }]>([
    ['PROVISIONING', { actions: ['stop', 'terminate'], cost: 2, isMeasured: false }],
    ['STARTING', { actions: ['stop', 'terminate'], cost: 2, isMeasured: false }],
    ['RUNNING', { actions: ['stop', 'restart', 'terminate'], cost: 2, isMeasured: true }],
    ['EXITED', { actions: ['start', 'terminate'], cost: 0, isMeasured: false }],
    ['ERROR', { actions: ['start', 'terminate'], cost: 2, isMeasured: false }],
    ['TERMINATED', { actions: [], cost: 0, isMeasured: false }],
  ])('200 with what follows from %s', async (status, expected) => {
    const id = status.toLowerCase();
    await insert(samplePod(id, { status, costUsdPerHour: 2, runtime, startedAtMs: 0 }));
    const { body } = await bench.call(`GET /v2/pods/${id}`);
    expect({ actions: body.actions, cost: body.cost, isMeasured: body.runtime !== null }).toEqual(expected);
  });

  test('404, the same for an unknown pod and for one of another account, whose environment stays its own', async () => {
    const container = { ...samplePod('x').container, env: { TOKEN: 'theirs' } };
    await insert(samplePod('foreign', { accountId: foreignAccountId, container }));
    const unknown = await bench.call('GET /v2/pods/nope');
    const foreign = await bench.call('GET /v2/pods/foreign');
    expect(unknown).toMatchObject({ status: 404, body: { type: expect.stringContaining('pod-not-found') } });
    expect({ ...foreign.body, instance: null }).toEqual({ ...unknown.body, instance: null });
    expect(await bench.call('GET /v2/pods/foreign', { key: foreignKey })).toMatchObject({
      status: 200,
      body: { env: { TOKEN: 'theirs' } },
    });
  });

  test('401 without a key, 403 without the scope', async () => {
    const key = await bench.keyWithout('clusters:read');
    expect(await bench.call('GET /v2/pods/full', { key: null })).toMatchObject({ status: 401 });
    expect(await bench.call('GET /v2/pods/full', { key })).toMatchObject({ status: 403 });
    expect(await bench.call('GET /v2/pods', { key })).toMatchObject({ status: 403 });
  });
});

describe('GET /v2/pods', () => {
  test('200 with the pods of the own account, those of clusters only when asked for', async () => {
    const { body: account } = await bench.call('POST /v2/accounts', { body: { name: 'lister' } });
    const accountId = account.id as AccountId;
    const key = account.apiKey.key as string;
    const ids = async (query = ''): Promise<string[]> =>
      each(await bench.call(`GET /v2/pods${query}`, { key }), 'pods', 'id');
    expect(await ids()).toEqual([]);
    await new ClustersStore(new Database(bench.source)).insert(sampleCluster('lister-c', { accountId }));
    await insert(samplePod('lister-b', { accountId, createdAtMs: CREATED_AT_MS + 2 }));
    await insert(member('lister-c', 0, { accountId, createdAtMs: CREATED_AT_MS + 1 }));
    await insert(samplePod('lister-a', { accountId }));
    expect(await ids()).toEqual(['lister-a', 'lister-b']);
    expect(await ids('?includeClusterPods=false')).toEqual(['lister-a', 'lister-b']);
    expect(await ids('?includeClusterPods=true')).toEqual(['lister-a', 'lister-c-0', 'lister-b']);
  });

  test.each<[string, string]>([
    ['includeClusterPods=yes', '$.includeClusterPods'],
    ['includeClusterPods=true&includeClusterPods=false', '$.includeClusterPods'],
    ['status=RUNNING', '$'],
  ])('400 for %s', async (query, path) => {
    const answer = await bench.call(`GET /v2/pods?${query}`);
    expect(answer.status).toBe(400);
    expect(failedPaths(answer)).toEqual([path]);
  });
});

describe('the database itself refuses', () => {
  const refusal = (pod: Pod): Promise<string> =>
    insert(pod).then(
      () => 'accepted',
      (error: unknown) => String(error),
    );
  const container = samplePod('x').container;
  const cpu = { kind: 'cpu', flavorId: 'cpu3c', vcpuCount: 2, memoryGb: 4 } as const;

  test.each<[string, Partial<Pod>]>([
    ['a disk below 2 GB', { container: { ...container, diskGb: 1 } }],
    ['an image with a blank', { container: { ...container, image: 'a b' } }],
    ['no GPU', { compute: { kind: 'gpu', typeId: 'NVIDIA L4', count: 0 } }],
    ['a vCPU count below 2', { compute: { ...cpu, vcpuCount: 1 } }],
    ['a vCPU count that is no power of two', { compute: { ...cpu, vcpuCount: 6 } }],
    ['memory below 2 GB', { compute: { ...cpu, memoryGb: 1 } }],
    ['a small persistent disk', { persistentMount: { sizeGb: 9, path: '/a' } }],
    ['a relative path', { persistentMount: { sizeGb: 10, path: 'a' } }],
    ['an unknown status', { status: 'DONE' as PodStatus }],
    ['a CUDA version that is none', { cudaVersion: '12' }],
    ['a negative cost', { costUsdPerHour: -1 }],
    ['a cost that is no number', { costUsdPerHour: NaN }],
    ['an unknown registry', { container: { ...container, registryId: 'nope' } }],
    ['an unknown volume', { networkMounts: [{ volumeId: 'nope', path: '/a' }] }],
    ['an unknown cluster', { membership: { clusterId: 'nope' as ClusterId, rank: 0, ip: null, role: null } }],
    ['a rank above 249', { membership: { clusterId: 'c1' as ClusterId, rank: 250, ip: null, role: null } }],
    [
      'a CPU pod in a cluster',
      { compute: cpu, membership: { clusterId: 'c1' as ClusterId, rank: 9, ip: null, role: null } },
    ],
  ])('%s', async (_, fields) => {
    expect(await refusal(samplePod('broken', fields))).toMatch(/violates (check|foreign key) constraint/);
    expect(await bench.call('GET /v2/pods/broken')).toMatchObject({ status: 404 });
  });

  test.each<[string, (theirs: AccountId) => Pod, string]>([
    ['a pod in a cluster', (accountId) => member('c1', 5, { accountId }), 'pods_cluster'],
    [
      'a registry',
      (accountId) => samplePod('thief', { accountId, container: { ...container, registryId } }),
      'pods_registry',
    ],
    [
      'a volume',
      (accountId) => samplePod('thief', { accountId, networkMounts: [{ volumeId, path: '/a' }] }),
      'pod_volumes_volume',
    ],
  ])('%s of another account', async (_, podOf, constraint) => {
    expect(await refusal(podOf(foreignAccountId))).toContain(constraint);
  });

  test('two members of one rank', async () => {
    await insert(member('c1', 7));
    expect(await refusal(samplePod('twin', { membership: member('c1', 7).membership }))).toContain('pods_rank');
  });

  const ROW = `INSERT INTO pods (id, account_id, name, image, args, disk_gb, env, ports, cloud, status, reason, cost_usd_per_hour, is_locked`;
  const VALUES = `VALUES ('raw', 'default', 'raw', 'i', '', 2, '{}', '{}', 'SECURE', 'RUNNING', '', 0, false`;
  test.each([
    ['neither GPU nor CPU', `${ROW}) ${VALUES})`, 'pods_compute'],
    [
      'both GPU and CPU',
      `${ROW}, gpu_type_id, gpu_count, cpu_flavor_id, vcpu_count, memory_gb) ${VALUES}, 'g', 1, 'c', 2, 2)`,
      'pods_compute',
    ],
    ['a GPU type without a count', `${ROW}, gpu_type_id) ${VALUES}, 'g')`, 'pods_gpu'],
    ['a CPU flavor without a size', `${ROW}, cpu_flavor_id) ${VALUES}, 'c')`, 'pods_cpu'],
    ['a rank in no cluster', `${ROW}, gpu_type_id, gpu_count, cluster_rank) ${VALUES}, 'g', 1, 0)`, 'pods_membership'],
    ['a mount without a size', `${ROW}, gpu_type_id, gpu_count, mount_path) ${VALUES}, 'g', 1, '/a')`, 'pods_mount'],
    [
      'a global address without a name',
      `${ROW}, gpu_type_id, gpu_count, global_ip) ${VALUES}, 'g', 1, '10.0.0.1')`,
      'pods_global_network',
    ],
    ['an address that is none', `${ROW}, gpu_type_id, gpu_count, global_ip) ${VALUES}, 'g', 1, 'ten')`, 'inet'],
  ])('%s', async (_, statement, constraint) => {
    await expect(bench.source.query(statement)).rejects.toThrow(constraint);
  });
});
