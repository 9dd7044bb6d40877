import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { hostSubject, inboxPrefix, type HostReply } from '@berth/contracts';
import { GB_BYTES, type HostId, type Inventory } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { AccountsStore } from '../src/accounts/accounts.store.js';
import { Database } from '../src/persistence/index.js';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

const PROBLEM = 'https://api.example.com/docs/problems/';
const SECRET = 'a-long-secret';
const inventoryWith = (storageId: string): Inventory => ({
  ...{ vcpus: 8, isOvercommitted: false, memoryBytes: 16e9, diskBytes: 100e9, gpus: [], areGpusSimulated: true },
  ...{ cudaVersion: null, runtime: 'process', images: ['local/echo'], volumes: { storageId } },
});
const RESOURCES = { vcpus: 2, memoryBytes: 4 * GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 };

/** One of its own for every test. */
let storageId: string;
let agent: AgentTransport;
let hostId: HostId;
let sequence = 0;
let volumeId: string;
let endpointId: string;
let workerId: string;

/** A worker with a volume on a host that reaches its storage, as the control loops have placed it. */
beforeEach(async () => {
  const volume = { name: 'weights', size: 20, dataCenter: 'LOCAL-1' };
  volumeId = (await bench.call('POST /v2/network-volumes', { body: volume })).body.id as string;
  const body = { ...QUEUE_ENDPOINT, networkVolumes: [volumeId] };
  endpointId = (await bench.call('POST /v2/serverless', { body })).body.id as string;
  const invited = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
  hostId = invited.body.hostId as HostId;
  agent = new AgentTransport(await bench.nats.connect({ inboxPrefix: inboxPrefix(hostId) }));
  storageId = `storage-of-${hostId}`;
  const secretHash = createHash('sha256').update(SECRET).digest('hex');
  const join = { token: invited.body.token, secretHash, inventory: inventoryWith(storageId) };
  await agent.request(hostSubject(hostId, 'join'), join, { timeoutMs: 5_000 });
  workerId = `worker-${hostId}`;
  await bench.source.query(`UPDATE network_volumes SET storage_id = $2 WHERE id = $1`, [volumeId, storageId]);
  await bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, volume_id)
     VALUES ($1, $2, $3, 1, 'running', $4, $5)`,
    [workerId, endpointId, hostId, JSON.stringify(RESOURCES), volumeId],
  );
});

async function report(more: object = {}): Promise<HostReply> {
  sequence += 1;
  const inventory = inventoryWith(storageId);
  const request = { secret: SECRET, instanceId: 'i', sequence, inventory, workers: [], ...more };
  return (await agent.request(hostSubject(hostId, 'report'), request, { timeoutMs: 5_000 })) as HostReply;
}

const forgetWorkers = (): Promise<unknown> => bench.source.query('DELETE FROM workers WHERE id = $1', [workerId]);
const deleteVolume = () => bench.call(`DELETE /v2/network-volumes/${volumeId}`);

test('a host hears which volume its worker has, with its present size', async () => {
  await bench.call(`PATCH /v2/network-volumes/${volumeId}`, { body: { size: 30 } });
  const { desired, deletedVolumes } = await report();
  const [{ account_id: accountId }] = await bench.source.query(`SELECT account_id FROM network_volumes WHERE id = $1`, [
    volumeId,
  ]);
  expect(desired).toMatchObject([{ workerId, volume: { id: volumeId, accountId, sizeGb: 30 } }]);
  expect(deletedVolumes).toBeUndefined();
});

test('a volume that a leaving worker still has is kept, also when its endpoint uses it no more', async () => {
  await bench.call(`PATCH /v2/serverless/${endpointId}`, { body: { networkVolumes: [] } });
  expect(await deleteVolume()).toMatchObject({
    status: 400,
    body: {
      type: `${PROBLEM}network-volume-in-use`,
      detail: `Network volume ${volumeId} is used by worker ${workerId}.`,
    },
  });
  expect((await report()).desired).toMatchObject([{ volume: { id: volumeId } }]);
  await forgetWorkers();
  expect(await deleteVolume()).toMatchObject({ status: 204 });
});

describe('the files of a deleted volume', () => {
  beforeEach(async () => {
    await bench.call(`PATCH /v2/serverless/${endpointId}`, { body: { networkVolumes: [] } });
    await forgetWorkers();
  });

  test('are named to hosts of its storage, and to no other, until one says that they are gone', async () => {
    expect(await deleteVolume()).toMatchObject({ status: 204 });
    const named = [{ id: volumeId, accountId: expect.any(String) }];
    expect((await report()).deletedVolumes).toEqual(named);
    expect((await report()).deletedVolumes).toEqual(named);
    const elsewhere = inventoryWith('another');
    expect(await report({ inventory: elsewhere, clearedVolumeIds: [volumeId] })).not.toHaveProperty('deletedVolumes');
    expect(await report({ inventory: { ...inventoryWith(''), volumes: null } })).not.toHaveProperty('deletedVolumes');
    expect((await report()).deletedVolumes).toEqual(named);
    expect(await report({ clearedVolumeIds: [volumeId] })).not.toHaveProperty('deletedVolumes');
    expect(await report()).not.toHaveProperty('deletedVolumes');
  });

  test('are nobody’s concern where no worker ever had it', async () => {
    await bench.source.query(`UPDATE network_volumes SET storage_id = NULL WHERE id = $1`, [volumeId]);
    expect(await deleteVolume()).toMatchObject({ status: 204 });
    expect(await report()).not.toHaveProperty('deletedVolumes');
  });

  test('go with their account too', async () => {
    await bench.source.query(`INSERT INTO accounts (id, name, deleted_at) VALUES ('gone', 'gone', now())`);
    await bench.source.query(
      `INSERT INTO network_volumes (id, account_id, name, size_gb, data_center_id, type, storage_id)
       VALUES ('its-volume', 'gone', 'v', 10, 'LOCAL-1', 'STANDARD', $1)`,
      [storageId],
    );
    expect(await new AccountsStore(new Database(bench.source)).forgetDeleted()).toBe(1);
    expect((await report()).deletedVolumes).toEqual([{ id: 'its-volume', accountId: 'gone' }]);
  });
});
