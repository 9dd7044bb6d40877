import { readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';

const TIMEOUT_MS = 10_000;

export interface BrokerDoor {
  readonly port: number;
  /** Path of the authority's certificate. */
  readonly authority: string;
}

/** Connects as whoever the options say, over TLS. */
export async function connectTo({ authority, port }: BrokerDoor, who: ConnectionOptions = {}): Promise<NatsConnection> {
  return connect({
    ...who,
    servers: `tls://127.0.0.1:${String(port)}`,
    tls: { ca: await readFile(authority, 'utf8'), handshakeFirst: true },
    reconnect: false,
    timeout: TIMEOUT_MS,
  });
}

/** What the broker says to somebody who waits for its greeting without TLS, as NATS clients do; empty: nothing, ever. */
export const greetingInTheClear = ({ port }: BrokerDoor): Promise<string> =>
  new Promise((resolve, reject) => {
    let heard = '';
    const socket = connectSocket({ host: '127.0.0.1', port }, () =>
      socket.write('CONNECT {"verbose":true}\r\nPING\r\n'),
    );
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('The broker keeps the connection.')));
    socket.on('data', (bytes) => (heard += bytes.toString('latin1')));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Cut off in the middle, which is an end too.
      if (error.code === 'ECONNRESET') resolve(heard);
      else reject(error);
    });
    socket.on('close', () => {
      resolve(heard);
    });
  });

/** Those of the subjects that the client may not publish to. */
export async function refusedSubjects(client: NatsConnection, subjects: readonly string[]): Promise<readonly string[]> {
  const refused: string[] = [];
  const statuses = client.status();
  const reading = (async () => {
    for await (const status of statuses)
      if (status.type === 'error')
        refused.push(/Publish to "([^"]+)"/.exec(status.error.message)?.[1] ?? status.error.message);
  })();
  for (const subject of subjects) client.publish(subject);
  // The server refuses before it answers a ping, so after a flush every refusal is known.
  await client.flush();
  await client.flush();
  (statuses as unknown as { stop(): void }).stop();
  await reading;
  await client.close();
  return refused;
}
