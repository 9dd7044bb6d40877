import { createServer, type AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { watchCertificates } from '../src/certificates/watch-certificates.js';
import { connectNats } from '../src/connection.js';

const nats = useNatsServer({ access: 'roles', isEncrypted: true });
const known = getCACertificates('default');
const connections: NatsConnection[] = [];

afterAll(async () => {
  setDefaultCACertificates(known);
  for (const connection of connections) await connection.close();
});

/** As `NODE_EXTRA_CA_CERTS` does it when a process starts. */
const know = (authority: string): void => setDefaultCACertificates([...known, authority]);

async function open(url: string, connectWithinMs = 60_000): Promise<NatsConnection> {
  const connection = await connectNats({
    ...{ url, name: 'test', clock: systemClock, random: systemRandom, connectWithinMs },
    credentials: { kind: 'nkey', seed: nats.keys.roles.router },
    inboxPrefix: '_INBOX_router',
  });
  connections.push(connection);
  return connection;
}

describe('a broker with a certificate', () => {
  test('shows it to who asks when it runs out', async () => {
    const metrics = new MetricRegistry();
    const url = `tls://127.0.0.1:${String(nats.server.port)}`;
    watchCertificates({ clock: new ManualClock(), metrics, logger: silentLogger, onStop: () => undefined }, url);
    await eventually(async () => {
      const [, end] = /server="127.0.0.1:\d+"\} (\S+)/.exec(await metrics.text()) ?? [];
      expect(Number(end)).toBeGreaterThan(systemClock.nowMs() / 1_000);
    });
  });

  test('is reached by tls://', async () => {
    know(nats.authority);
    const connection = await open(`tls://127.0.0.1:${String(nats.server.port)}`);
    const { data } = await connection.request('$JS.API.INFO', '', { timeout: 5_000 });
    expect(new TextDecoder().decode(data)).toContain('account_info_response');
    expect(connection.info?.tls_required).toBe(true);
  });

  test('is not believed where nobody knows its authority', async () => {
    setDefaultCACertificates(known);
    await expect(open(`tls://127.0.0.1:${String(nats.server.port)}`, 1)).rejects.toThrow();
  });

  test('is not believed under a name that is not in its certificate', async () => {
    know(nats.authority);
    await expect(open(`tls://127.0.0.2:${String(nats.server.port)}`, 1)).rejects.toThrow();
  });

  test('lets nobody in who speaks plain TCP', async () => {
    await expect(open(`nats://127.0.0.1:${String(nats.server.port)}`, 1)).rejects.toThrow();
  });
});

test('whoever sits between and says that there is no TLS is told nothing in the clear', async () => {
  const heard: Buffer[] = [];
  const info = {
    server_id: 'N',
    version: '2.15.1',
    headers: true,
    max_payload: 1_048_576,
    nonce: 'abcdefghijk',
    proto: 1,
  };
  const impostor = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => heard.push(bytes));
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
  });
  await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = impostor.address() as AddressInfo;
    await expect(open(`tls://127.0.0.1:${String(port)}`, 1)).rejects.toThrow();
    expect(Buffer.concat(heard).toString('latin1')).not.toContain('CONNECT');
  } finally {
    impostor.close();
  }
});
