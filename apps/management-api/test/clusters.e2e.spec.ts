import { beforeAll, describe, expect, test } from '@jest/globals';
import type { AccountId, Cluster } from '@berth/domain';
import { Database } from '../src/persistence/database.js';
import { ClustersStore } from '../src/clusters/clusters.store.js';
import { PodsStore } from '../src/pods/pods.store.js';
import { each, useManagementApi, type Answer } from './management-bench.js';
import { CREATED_AT_MS, member, sampleCluster } from './pod-samples.js';

const bench = useManagementApi();

let clusters: ClustersStore;
let pods: PodsStore;
let foreignKey: string;
let foreignAccountId: AccountId;

beforeAll(async () => {
  clusters = new ClustersStore(new Database(bench.source));
  pods = new PodsStore(new Database(bench.source));
  const { body: account } = await bench.call('POST /v2/accounts', { body: { name: 'other' } });
  foreignKey = account.apiKey.key;
  foreignAccountId = account.id;
});

const createdAt = new Date(CREATED_AT_MS).toISOString();

test('200 where there are none', async () => {
  expect(await bench.call('GET /v2/clusters')).toMatchObject({ status: 200, body: { clusters: [] } });
});

describe('GET /v2/clusters/{id}', () => {
  test('200 before a pod is placed', async () => {
    await clusters.insert(sampleCluster('new'));
    await pods.insert(member('new', 0));
    await pods.insert(member('new', null));
    const { body, status } = await bench.call('GET /v2/clusters/new');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'new',
      name: 'new',
      type: 'TRAINING',
      compute: { gpuTypeId: 'NVIDIA L4', gpuCountPerPod: 1, podCount: 2 },
      pods: { total: 2, byStatus: { PROVISIONING: 2 } },
      createdAt,
    });
  });

  test('200 with where it is and how to reach it', async () => {
    const network = { cidr: '10.65.0.0/16', vxlanId: 42, vxlanPort: 4789 };
    const compute = { gpuTypeId: 'NVIDIA H200', gpuCountPerPod: 8, podCount: 3 };
    await clusters.insert(
      sampleCluster('up', {
        name: 'training',
        type: 'RAY',
        compute,
        network,
        templateId: 't1',
        createdAtMs: CREATED_AT_MS + 1,
      }),
    );
    const placed = { dataCenterId: 'LOCAL-1' };
    const sshDirect = { host: '192.0.2.7', port: 40_022, username: 'root' };
    await pods.insert(member('up', 0, { ...placed, status: 'RUNNING', sshDirect }));
    await pods.insert(member('up', 1, { ...placed, status: 'RUNNING' }));
    await pods.insert(member('up', 2, { ...placed, status: 'STARTING' }));
    const { body } = await bench.call('GET /v2/clusters/up');
    expect(body).toEqual({
      id: 'up',
      name: 'training',
      type: 'RAY',
      compute,
      template: 't1',
      dataCenterId: 'LOCAL-1',
      pods: { total: 3, byStatus: { RUNNING: 2, STARTING: 1 } },
      network,
      primary: { podId: 'up-0', status: 'RUNNING', sshEndpoint: '192.0.2.7:40022' },
      createdAt: new Date(CREATED_AT_MS + 1).toISOString(),
    });
  });

  test('200 with a network and a primary of which not all is known', async () => {
    await clusters.insert(
      sampleCluster('partial', {
        network: { cidr: '10.66.0.0/16', vxlanId: null, vxlanPort: null },
        createdAtMs: CREATED_AT_MS + 2,
      }),
    );
    await pods.insert(member('partial', 0, { dataCenterId: 'LOCAL-1', status: 'STARTING' }));
    expect((await bench.call('GET /v2/clusters/partial')).body).toMatchObject({
      network: { cidr: '10.66.0.0/16' },
      primary: { podId: 'partial-0', status: 'STARTING' },
    });
  });
});

describe('GET /v2/clusters', () => {
  test('200 with the clusters of the own account as they are read one by one, oldest first', async () => {
    const { body } = await bench.call('GET /v2/clusters');
    expect(each({ body } as Answer, 'clusters', 'id')).toEqual(['new', 'up', 'partial']);
    for (const cluster of body.clusters) {
      expect((await bench.call(`GET /v2/clusters/${cluster.id}`)).body).toEqual(cluster);
    }
  });
});

describe('GET /v2/clusters/{id}/pods', () => {
  test('200 with whole pods by rank, the same as each alone', async () => {
    const { body, status } = await bench.call('GET /v2/clusters/up/pods');
    expect(status).toBe(200);
    expect(each({ body } as Answer, 'pods', 'id')).toEqual(['up-0', 'up-1', 'up-2']);
    for (const pod of body.pods) {
      expect((await bench.call(`GET /v2/pods/${pod.id}`)).body).toEqual(pod);
    }
    expect(body.pods[2].cluster).toEqual({ id: 'up', rank: 2 });
  });

  test('200 with pods that have no rank yet at the end', async () => {
    const { body } = await bench.call('GET /v2/clusters/new/pods');
    expect(body.pods).toMatchObject([{ cluster: { rank: 0 } }, { cluster: { rank: null } }]);
  });

  test('200 with none', async () => {
    await clusters.insert(sampleCluster('empty', { accountId: foreignAccountId }));
    expect(await bench.call('GET /v2/clusters/empty/pods', { key: foreignKey })).toMatchObject({
      status: 200,
      body: { pods: [] },
    });
  });
});

describe.each(['GET /v2/clusters/ID', 'GET /v2/clusters/ID/pods'])('%s', (request) => {
  const call = (id: string, key?: string | null) =>
    bench.call(request.replace('ID', id), key === undefined ? {} : { key });

  test('404, the same for an unknown cluster and for one of another account', async () => {
    const id = `theirs${request.length}`;
    await clusters.insert(sampleCluster(id, { accountId: foreignAccountId }));
    const [unknown, foreign] = [await call('nope'), await call(id)];
    expect(unknown).toMatchObject({ status: 404, body: { type: expect.stringContaining('cluster-not-found') } });
    expect({ ...foreign.body, instance: null }).toEqual({ ...unknown.body, instance: null });
    expect(await call(id, foreignKey)).toMatchObject({ status: 200 });
  });

  test('401 without a key, 403 without the scope', async () => {
    expect(await call('up', null)).toMatchObject({ status: 401 });
    expect(await call('up', await bench.keyWithout('clusters:read'))).toMatchObject({ status: 403 });
  });
});

describe('the database itself refuses', () => {
  const compute = sampleCluster('x').compute;
  test.each<[string, Partial<Cluster>]>([
    ['a cluster without a name', { name: '' }],
    ['a cluster of one pod', { compute: { ...compute, podCount: 1 } }],
    ['a cluster of 251 pods', { compute: { ...compute, podCount: 251 } }],
    ['a cluster without GPUs', { compute: { ...compute, gpuCountPerPod: 0 } }],
    ['an unknown type', { type: 'OTHER' as Cluster['type'] }],
    ['a port that is none', { network: { cidr: '10.0.0.0/8', vxlanId: 1, vxlanPort: 0 } }],
  ])('%s', async (_, fields) => {
    await expect(clusters.insert(sampleCluster('broken', fields))).rejects.toThrow('violates check constraint');
  });

  test('a network that is none', async () => {
    const network = { cidr: '10.0.0.1/8', vxlanId: null, vxlanPort: null };
    await expect(clusters.insert(sampleCluster('broken', { network }))).rejects.toThrow('cidr');
  });

  test('to lose a cluster that has pods', async () => {
    await expect(bench.source.query(`DELETE FROM clusters WHERE id = 'up'`)).rejects.toThrow('pods_cluster');
  });
});
