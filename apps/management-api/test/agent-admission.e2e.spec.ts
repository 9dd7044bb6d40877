import { describe, expect, test } from '@jest/globals';
import { hostSubject, inboxPrefix, type HostReply } from '@berth/contracts';
import type { HostId, Inventory } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { createHash } from 'node:crypto';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi({ hasRoles: true });

const SECRET = 'a-long-secret-of-the-agent';
const INVENTORY: Inventory = {
  vcpus: 4,
  isOvercommitted: false,
  memoryBytes: 8_000_000_000,
  diskBytes: 50_000_000_000,
  gpus: [],
  areGpusSimulated: false,
  cudaVersion: null,
  runtime: 'process',
  images: [],
};

const agentAs = async (id: HostId, user: string, pass: string): Promise<AgentTransport> =>
  new AgentTransport(
    await bench.nats.connect({ user, pass, inboxPrefix: inboxPrefix(id), maxReconnectAttempts: 0, reconnect: false }),
  );

describe('a broker that lets in roles and agents only', () => {
  test('the management API does all its work with the rights of its role', async () => {
    const { body, status } = await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT });
    expect(status).toBe(201);
    expect(await bench.endpointSnapshot(body.id)).toMatchObject({ isDeleted: false });
    expect(await bench.call(`DELETE /v2/serverless/${body.id}`)).toMatchObject({ status: 204 });
    expect((await fetch(`${bench.operationsUrl}/readyz`)).status).toBe(200);
  });

  test('an agent is let in with its token, joins, and returns with its secret; nobody else is', async () => {
    const { body } = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
    const id = body.hostId as HostId;
    const joining = await agentAs(id, 'join', body.token);
    const secretHash = createHash('sha256').update(SECRET).digest('hex');
    const request = { token: body.token, secretHash, inventory: INVENTORY };
    await joining.request(hostSubject(id, 'join'), request, { timeoutMs: 5_000 });

    const agent = await agentAs(id, id, SECRET);
    const report = { secret: SECRET, instanceId: 'i1', sequence: 1, inventory: INVENTORY, workers: [] };
    const reply = await agent.request<HostReply>(hostSubject(id, 'report'), report, { timeoutMs: 5_000 });
    expect(reply).toEqual(expect.objectContaining({ desired: [] }));

    await expect(agentAs(id, 'join', body.token)).rejects.toThrow();
    await expect(agentAs(id, id, 'another secret')).rejects.toThrow();
    expect(await bench.call(`DELETE /v2/hosts/${id}`)).toMatchObject({ status: 204 });
    await expect(agentAs(id, id, SECRET)).rejects.toThrow();
  });
});
