import { describe, expect, test } from '@jest/globals';
import { hostSubject, inboxPrefix, type HostReply, type JoinReply } from '@berth/contracts';
import type { HostId, Inventory } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { createHash } from 'node:crypto';
import { failedPaths, QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

const INVENTORY: Inventory = {
  vcpus: 8,
  isOvercommitted: false,
  memoryBytes: 16_000_000_000,
  diskBytes: 100_000_000_000,
  gpus: [{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 24_000_000_000 }],
  areGpusSimulated: true,
  cudaVersion: '12.4',
  runtime: 'process',
  images: [],
  agentVersion: '0.1.0',
};

const invite = async (body: object = { name: 'host' }): Promise<{ hostId: string; token: string }> => {
  const answer = await bench.call('POST /v2/hosts/join-tokens', { body });
  return answer.body as { hostId: string; token: string };
};

describe('POST /v2/hosts/join-tokens', () => {
  test('201 with a token; the host is listed, not yet joined', async () => {
    const labels = { rack: 'r1', 'example.com/zone': 'a' };
    const { body, status } = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'gpu-1', labels } });
    expect(status).toBe(201);
    expect(body).toEqual({
      hostId: expect.any(String),
      token: expect.stringContaining(body.hostId),
      expiresAt: expect.any(String),
    });
    expect(await bench.call(`GET /v2/hosts/${body.hostId}`)).toMatchObject({
      status: 200,
      body: {
        name: 'gpu-1',
        dataCenterId: 'LOCAL-1',
        labels,
        state: 'ready',
        isOnline: false,
        suspectBecause: null,
        inventory: null,
        lastSeenAt: null,
        workers: [],
      },
    });
    expect(await bench.hostSnapshot(body.hostId)).toEqual({ id: body.hostId, isDraining: false });
    const { body: list } = await bench.call('GET /v2/hosts');
    expect(JSON.stringify(list)).not.toContain(body.token);
  });

  test('an agent joins with it once, reports, and is seen online', async () => {
    const { hostId, token } = await invite();
    const id = hostId as HostId;
    const agent = new AgentTransport(await bench.nats.connect({ inboxPrefix: inboxPrefix(id) }));
    const secret = 'a-long-secret';
    const secretHash = createHash('sha256').update(secret).digest('hex');
    const join = (hash: string): Promise<JoinReply> =>
      agent.request(
        hostSubject(id, 'join'),
        { token, secretHash: hash, inventory: INVENTORY },
        { timeoutMs: 5_000 },
      ) as Promise<JoinReply>;
    expect(await join(secretHash)).toEqual({ hostId, dataCenterId: 'LOCAL-1' });
    await expect(join('0'.repeat(64))).rejects.toMatchObject({ code: 'join-token-used' });
    const report = { secret, instanceId: 'i1', sequence: 1, inventory: INVENTORY, workers: [] };
    const reply = (await agent.request(hostSubject(id, 'report'), report, { timeoutMs: 5_000 })) as HostReply;
    expect(reply).toMatchObject({ desired: [], dataCenterId: 'LOCAL-1' });
    expect(await bench.call(`GET /v2/hosts/${hostId}`)).toMatchObject({
      body: { isOnline: true, inventory: INVENTORY },
    });
  });

  test.each<[object, string]>([
    [{}, '$.name'],
    [{ name: 'x', dataCenterId: 'a b' }, '$.dataCenterId'],
    [{ name: 'x', labels: { a: 1 } }, '$.labels'],
    [{ name: 'x', expiresInSeconds: 0 }, '$.expiresInSeconds'],
  ])('422 for %j', async (body, path) => {
    const answer = await bench.call('POST /v2/hosts/join-tokens', { body });
    expect(answer.status).toBe(422);
    expect(failedPaths(answer)).toEqual([path]);
  });

  test('403 for every operation without the scope admin', async () => {
    const key = await bench.newAccount();
    for (const request of ['GET /v2/hosts', 'GET /v2/hosts/x', 'DELETE /v2/hosts/x']) {
      expect(await bench.call(request, { key })).toMatchObject({ status: 403 });
    }
    for (const request of ['POST /v2/hosts/join-tokens', 'POST /v2/hosts/x/action']) {
      expect(await bench.call(request, { key, body: {} })).toMatchObject({ status: 403 });
    }
  });
});

describe('GET /v2/hosts', () => {
  test('says which host is suspect, and why: there fails what fails nowhere else', async () => {
    const { hostId } = await invite();
    const other = await invite();
    const resources = { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
    for (const name of ['a', 'b', 'c']) {
      const endpoint = await bench.call('POST /v2/serverless', { body: { ...QUEUE_ENDPOINT, name } });
      const observed = { phase: 'waiting', reason: '', failedStarts: 3, startedAtMs: null, gpuTypeId: null };
      await bench.source.query(
        `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, observed)
         VALUES ($1, $2, $3, 1, 'running', $4, $5)`,
        [`failing-${name}`, endpoint.body.id, hostId, JSON.stringify(resources), JSON.stringify(observed)],
      );
    }
    const suspectBecause = 'workers of 3 endpoints fail on it, and on no other host';
    expect((await bench.call(`GET /v2/hosts/${hostId}`)).body).toMatchObject({ suspectBecause });
    const hosts = (await bench.call('GET /v2/hosts')).body.hosts as { id: string; suspectBecause: string | null }[];
    expect(hosts.find(({ id }) => id === hostId)).toMatchObject({ suspectBecause });
    expect(hosts.find(({ id }) => id === other.hostId)).toMatchObject({ suspectBecause: null });
  });
});

describe('POST /v2/hosts/{id}/action', () => {
  test('200 with the host in its new state, which the routers know', async () => {
    const { hostId } = await invite();
    const act = async (action: string): Promise<unknown> => {
      const { body, status } = await bench.call(`POST /v2/hosts/${hostId}/action`, { body: { action } });
      return { status, state: body.state, isDraining: (await bench.hostSnapshot(hostId))?.isDraining };
    };
    expect(await act('cordon')).toEqual({ status: 200, state: 'cordoned', isDraining: false });
    expect(await act('drain')).toEqual({ status: 200, state: 'draining', isDraining: true });
    expect(await act('uncordon')).toEqual({ status: 200, state: 'ready', isDraining: false });
  });

  test('404 and 422', async () => {
    const action = { action: 'drain' };
    expect(await bench.call('POST /v2/hosts/nope/action', { body: action })).toMatchObject({ status: 404 });
    const { hostId } = await invite();
    expect(await bench.call(`POST /v2/hosts/${hostId}/action`, { body: { action: 'reboot' } })).toMatchObject({
      status: 422,
    });
  });
});

describe('DELETE /v2/hosts/{id}', () => {
  test('204; it is gone for everybody, and a repeat is 404', async () => {
    const { hostId } = await invite();
    expect(await bench.call(`DELETE /v2/hosts/${hostId}`)).toMatchObject({ status: 204 });
    expect(await bench.hostSnapshot(hostId)).toBeUndefined();
    expect(await bench.call(`GET /v2/hosts/${hostId}`)).toMatchObject({ status: 404 });
    expect(await bench.call(`DELETE /v2/hosts/${hostId}`)).toMatchObject({ status: 404 });
  });
});
