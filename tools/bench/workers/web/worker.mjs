// A web server that does next to nothing, so that what stands in front of it is what is measured: `GET /bytes/N` answers so
// many bytes, `POST /take` reads a body, `GET /port` tells where to find it without anything in between, and a WebSocket
// hears back what it says.

import { createServer } from 'node:http';

// Workers run in a copy of this folder, with no packages beside it.
const { WebSocketServer } = await import(process.env.WS_MODULE);
const port = Number(process.env.PORT);
/** Longer than any proxy keeps a connection: one that closes first loses a request. */
const KEPT_MS = 600_000;
const ANSWERS = new Map([1_024, 1_048_576].map((bytes) => [`/bytes/${bytes}`, Buffer.alloc(bytes, 'berth')]));

const say = (response, body) => response.writeHead(200, { 'content-length': body.length }).end(body);

const server = createServer({ keepAliveTimeout: KEPT_MS }, (request, response) => {
  const answer = ANSWERS.get(request.url);
  if (answer !== undefined) say(response, answer);
  else if (request.url === '/take') request.resume().once('end', () => say(response, 'taken'));
  else if (request.url === '/port') say(response, String(port));
  else say(response, 'pong');
});
const sockets = new WebSocketServer({ server, path: '/socket', perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.on('error', (error) => console.error(`a WebSocket broke: ${error.message}`));
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.listen(port);
process.on('SIGTERM', () => process.exit(0));
