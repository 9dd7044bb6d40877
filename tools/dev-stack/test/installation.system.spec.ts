import { hostSubject, inboxPrefix } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { eventually, useTempFolders } from '@berth/testing';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InstalledStack } from './stack/installed-stack.js';

const START_MS = 240_000;
const JOB_MS = 60_000;
const JOB_TEST_MS = 100_000;

const tempFolder = useTempFolders();

describe.each([1, 3] as const)('an installation with %d broker(s), as `berth init` wrote it', (brokers) => {
  let stack: InstalledStack;
  let host: { readonly hostId: HostId; readonly token: string };

  beforeAll(async () => {
    stack = await InstalledStack.open(await tempFolder(), brokers);
    await stack.migrate();
    await stack.startProcesses();
  }, START_MS);
  afterAll(() => stack.close(), START_MS);

  const connectAs = async (login: object, prefix?: string): Promise<NatsConnection> =>
    connect({
      servers: `${stack.brokerHosts[0] ?? ''}:${String(stack.ports.client)}`,
      tls: { handshakeFirst: true, ca: await stack.authority() },
      reconnect: false,
      ...(prefix !== undefined && { inboxPrefix: prefix }),
      ...login,
    });

  test('lets in its first key, and no other', async () => {
    expect(await stack.call('GET', `${stack.baseUrl}/v2/hosts`)).toMatchObject({ status: 200 });
    const other = `${stack.firstKey.slice(0, -1)}${stack.firstKey.endsWith('a') ? 'b' : 'a'}`;
    expect(await stack.call('GET', `${stack.baseUrl}/v2/hosts`, { key: other })).toMatchObject({ status: 401 });
  });

  test('has a broker that says nothing in the clear', async () => {
    const plain = connect({
      servers: `${stack.brokerHosts[0] ?? ''}:${String(stack.ports.client)}`,
      reconnect: false,
      timeout: 2_000,
    });
    await expect(plain).rejects.toThrow();
  });

  test('has a broker that lets nobody in without a key or a token', async () => {
    await expect(connectAs({})).rejects.toThrow('Authorization Violation');
  });

  test('has a broker that keeps an agent to its own subjects', async () => {
    const made = await stack.call('POST', `${stack.baseUrl}/v2/hosts/join-tokens`, { body: { name: 'gpu-box' } });
    host = made.body;
    const agent = await connectAs({ user: 'join', pass: host.token }, inboxPrefix(host.hostId));
    const refused: string[] = [];
    void (async () => {
      for await (const status of agent.status()) if (status.type === 'error') refused.push(String(status.error));
    })();
    const foreign = hostSubject('somebody-else' as HostId, 'report');
    agent.publish(foreign, '{}');
    agent.publish('log.0.endpoint', '{}');
    await agent.flush();
    await eventually(() => {
      expect(refused).toEqual([
        expect.stringContaining(`Publish to "${foreign}"`),
        expect.stringContaining('Publish to "log.0.endpoint"'),
      ]);
    });
    await agent.close();
  });

  test(
    'runs a job on a host that has joined with its token',
    async () => {
      await stack.startHost(host.token);
      const { body: endpoint, status } = await stack.call('POST', `${stack.baseUrl}/v2/serverless`, {
        body: {
          name: 'node-echo',
          type: 'QUEUE',
          image: 'local/node-echo',
          cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
          scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
          workers: { min: 0, max: 1, idleTimeout: 60 },
        },
      });
      expect(status).toBe(201);
      const url = `${stack.runUrl}/v2/${String(endpoint.id)}/run`;
      const job = await eventually(async () => {
        const answer = await stack.call('POST', url, { body: { input: { message: 'ahoy' } } });
        expect(answer).toMatchObject({ status: 200 });
        return answer.body as { readonly id: string };
      });
      await eventually(
        async () => {
          const answer = await stack.call('GET', `${stack.runUrl}/v2/${String(endpoint.id)}/status/${job.id}`);
          expect(answer.body).toMatchObject({ status: 'COMPLETED' });
        },
        { deadlineMs: JOB_MS, intervalMs: 200 },
      );
    },
    JOB_TEST_MS,
  );

  test('is told that all is there when it is made again', async () => {
    const said = JSON.parse(await stack.berth(['init', stack.installation, '--json']));
    expect(said).toMatchObject({ written: [], replaced: [], differing: [], firstKey: null });
  });
});
