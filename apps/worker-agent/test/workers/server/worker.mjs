// A load-balanced worker that answers as the test says. `HOST`: the only address that it listens at. `HEALTH_FILE`: its health
// checks answer with the status that is written there. `/told` says what it was told; `/part` begins an answer and leaves it.
// `ENDS`: it says this and ends at once.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { ENDS, HEALTH_FILE, HOST, PORT, PORT_HEALTH } = process.env;
const ENDED = 3;

if (ENDS !== undefined) {
  console.log(ENDS);
  process.exit(ENDED);
}

const health = createServer((_, response) => {
  response.writeHead(HEALTH_FILE === undefined ? 200 : Number(readFileSync(HEALTH_FILE, 'utf8'))).end();
});
const server = createServer(({ url }, response) => {
  if (url === '/told') response.end(JSON.stringify({ port: PORT, healthPort: PORT_HEALTH, pid: process.pid }));
  else if (url === '/part') response.writeHead(200, { 'content-length': 100 }).write('part');
  else response.writeHead(404).end();
});
health.listen(Number(PORT_HEALTH), HOST);
server.listen(Number(PORT), HOST);
process.on('SIGTERM', () => process.exit(0));
