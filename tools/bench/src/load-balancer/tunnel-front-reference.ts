import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { join } from 'node:path';
import { runReference } from '../reference-process.js';
import { startReference } from '../reference.js';
import { BARE_LIMITS, BARE_SESSION_WINDOW_BYTES, BARE_TLS, BARE_WINDOWS } from './bare-tunnel.js';

/**
 * The shape of a router and an agent with what Node itself has: its HTTP on one side, each request a stream of HTTP/2 over
 * TLS to another process, which connects it to the worker. No key, no line, no rule for a header, no limit of time.
 */
const [workerPort = ''] = process.argv.slice(2);

const tunnels = createTlsServer({ ...BARE_TLS, pskCallback: () => BARE_TLS.pskCallback().psk });
tunnels.listen(0, '127.0.0.1');
await once(tunnels, 'listening');
const { port: tunnelPort } = tunnels.address() as AddressInfo;
const connected = once(tunnels, 'secureConnection') as Promise<[TLSSocket]>;
const back = await startReference(join('load-balancer', 'tunnel-back-reference.js'), [String(tunnelPort), workerPort]);
const [socket] = await connected;
socket.setNoDelay(true);
const session = connect('http://host', {
  ...BARE_LIMITS,
  createConnection: () => socket,
  settings: { ...BARE_WINDOWS, enablePush: false },
});
session.once('connect', () => session.setLocalWindowSize(BARE_SESSION_WINDOW_BYTES));

const server = createServer((request, response) => {
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'worker' }, { endStream: false });
  const { method, rawHeaders, url: path } = request;
  stream.on('error', () => response.destroy());
  stream.once('response', () => {
    const headers = withoutConnection(rawHeaders);
    const asked = httpRequest({ createConnection: () => stream, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, withoutConnection(answer.rawHeaders));
      answer.pipe(response);
      answer.once('end', () => stream.destroy());
    });
    asked.on('error', () => response.destroy());
    request.pipe(asked);
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

runReference(`http://127.0.0.1:${port}`, async () => {
  server.closeAllConnections();
  session.destroy();
  tunnels.close();
  await back.stop();
});

function withoutConnection(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    if (!/^(?:connection|keep-alive)$/i.test(name)) kept.push(name, value);
  }
  return kept;
}
