import { createServer } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { runReference } from '../reference-process.js';
import { BARE_LIMITS, BARE_TLS, BARE_WINDOWS } from './bare-tunnel.js';

/** The host's side of the least tunnel: each stream is a connection to the worker, with nothing counted, checked or told. */
const [frontPort = '', workerPort = ''] = process.argv.slice(2);

const server = createServer({ ...BARE_LIMITS, settings: BARE_WINDOWS });
server.on('stream', (stream) => {
  const worker = connectTcp({ host: '127.0.0.1', port: Number(workerPort), noDelay: true, allowHalfOpen: true });
  worker.once('connect', () => {
    stream.respond({ ':status': 200 });
    stream.pipe(worker);
    worker.pipe(stream);
  });
  worker.on('error', () => stream.destroy());
  stream.on('error', () => worker.destroy());
  stream.once('close', () => worker.destroy());
});

const socket = connectTls({
  ...BARE_TLS,
  host: '127.0.0.1',
  port: Number(frontPort),
  checkServerIdentity: () => undefined,
});
socket.once('secureConnect', () => {
  socket.setNoDelay(true);
  server.emit('connection', socket);
  runReference('', () => {
    socket.destroy();
    return Promise.resolve();
  });
});
