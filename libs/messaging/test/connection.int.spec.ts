import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectNats, drainConnection, type ConnectNatsOptions, type ConnectionEvent } from '../src/connection.js';

const nats = useNatsServer({ access: 'roles' });
const connections: NatsConnection[] = [];
const events: ConnectionEvent[] = [];

afterAll(async () => {
  for (const connection of connections) await connection.close();
});

async function open(changes: Partial<ConnectNatsOptions> = {}): Promise<NatsConnection> {
  const connection = await connectNats({
    url: nats.server.url,
    name: 'test',
    credentials: { kind: 'nkey', seed: nats.keys.roles.router },
    inboxPrefix: '_INBOX_router',
    connectWithinMs: 60_000,
    clock: systemClock,
    random: systemRandom,
    onStatus: (event) => events.push(event),
    ...changes,
  });
  connections.push(connection);
  return connection;
}

const kinds = (): string[] => events.map(({ kind }) => kind);

describe('a connection', () => {
  test('answers come below the inbox of its role', async () => {
    const connection = await open();
    const { data } = await connection.request('$JS.API.INFO', '', { timeout: 2_000 });
    expect(new TextDecoder().decode(data)).toContain('account_info_response');
  });

  test('is told and comes back when the broker was away', async () => {
    const connection = await open();
    events.length = 0;
    await nats.restart('kill');
    await eventually(() => expect(kinds()).toEqual(expect.arrayContaining(['disconnect', 'reconnect'])), {
      deadlineMs: 90_000,
    });
    // A broker that has just come back may close a connection once more.
    await eventually(() => connection.flush(), { deadlineMs: 90_000 });
  });

  test('is tried until a broker comes', async () => {
    const url = nats.server.url;
    await nats.server.kill();
    events.length = 0;
    const opened = open({ url: `nats://127.0.0.1:1, ${url}` });
    await eventually(() => expect(kinds()).toContain('connect-failed'), { deadlineMs: 90_000 });
    await nats.restart('kill');
    expect((await opened).isClosed()).toBe(false);
  });

  test('is given up at the deadline, with the reason', async () => {
    await expect(open({ url: 'nats://127.0.0.1:1', connectWithinMs: 300 })).rejects.toThrow(/refused|ECONNREFUSED/);
    await expect(open({ credentials: { kind: 'token', token: 'wrong' }, connectWithinMs: 0 })).rejects.toThrow(
      /authorization|timeout/i,
    );
    const stopped = AbortSignal.abort();
    await expect(open({ url: 'nats://127.0.0.1:1', signal: stopped })).rejects.toThrow();
  });

  test('is drained: what was buffered is sent, and a broker that is away does not hold it up', async () => {
    const connection = await open();
    await drainConnection(connection, systemClock);
    expect(connection.isClosed()).toBe(true);
    await drainConnection(connection, systemClock);
    const cutOff = await open();
    await nats.server.kill();
    await drainConnection(cutOff, systemClock);
    expect(cutOff.isClosed()).toBe(true);
  });
});
