import { describe, expect, test } from '@jest/globals';
import { hostSubject, inboxPrefix, type HostReply } from '@berth/contracts';
import type { HostId, Inventory } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';
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

const connectAgent = (id: HostId, user: string, pass: string): Promise<NatsConnection> =>
  bench.nats.connect({ user, pass, inboxPrefix: inboxPrefix(id), maxReconnectAttempts: 0, reconnect: false });

/** A host whose agent has joined with the secret, and its connection. */
const joinedHost = async (): Promise<{ readonly id: HostId; readonly connection: NatsConnection }> => {
  const { body } = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
  const id = body.hostId as HostId;
  const joining = await connectAgent(id, 'join', body.token);
  const request = { token: body.token, secretHash: hashOf(SECRET), inventory: INVENTORY };
  await new AgentTransport(joining).request(hostSubject(id, 'join'), request, { timeoutMs: 5_000 });
  await joining.close();
  return { id, connection: await connectAgent(id, id, SECRET) };
};

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

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
    const reply = (await agent.request(hostSubject(id, 'report'), report, { timeoutMs: 5_000 })) as HostReply;
    expect(reply).toEqual(expect.objectContaining({ desired: [] }));

    await expect(agentAs(id, 'join', body.token)).rejects.toThrow();
    await expect(agentAs(id, id, 'another secret')).rejects.toThrow();
    expect(await bench.call(`DELETE /v2/hosts/${id}`)).toMatchObject({ status: 204 });
    await expect(agentAs(id, id, SECRET)).rejects.toThrow();
  });
});

describe('a host that was removed', () => {
  test('loses its connection at once, and its identity opens no other', async () => {
    const { connection, id } = await joinedHost();
    const other = await joinedHost();
    expect(await bench.call(`DELETE /v2/hosts/${id}`)).toMatchObject({ status: 204 });
    await connection.closed();
    await expect(connectAgent(id, id, SECRET)).rejects.toThrow('Authorization Violation');
    await other.connection.flush();
    expect(other.connection.isClosed()).toBe(false);
    const metrics = await (await fetch(`${bench.operationsUrl}/metrics`)).text();
    expect(metrics).toMatch(/berth_management_host_cut_offs_total [1-9]/);
  });

  test('loses also the connection that it made with its join token', async () => {
    const { body } = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
    const joining = await connectAgent(body.hostId, 'join', body.token);
    expect(await bench.call(`DELETE /v2/hosts/${body.hostId}`)).toMatchObject({ status: 204 });
    await joining.closed();
    await expect(connectAgent(body.hostId, 'join', body.token)).rejects.toThrow('Authorization Violation');
  });

  test('loses its connection also when the process that removed it died before it could say so', async () => {
    const { connection, id } = await joinedHost();
    // What such a process leaves behind: the committed removal.
    await bench.source.query(
      `WITH gone AS (DELETE FROM hosts WHERE id = $1 RETURNING id)
       INSERT INTO audit_entries (at, account_id, api_key_id, action, resource_id, diff)
       SELECT now(), 'default', 'key', 'host.deleted', id, '[]' FROM gone`,
      [id],
    );
    await connection.closed();
  });
});
