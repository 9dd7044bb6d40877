import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runReference } from '../reference-process.js';

/** The least that a collector does: it takes what comes, and keeps nothing. */
const server = createServer((incoming, response) => {
  incoming.resume().once('end', () => response.end());
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
runReference(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});
