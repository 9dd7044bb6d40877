/**
 * A worker that serves WebSockets with the public package `ws`, which lies at WS. It says what it hears, and does what it is
 * told by a text that begins with `!`. What each socket was closed with is written down in the folder FOLDER.
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const { FOLDER, PORT, WS } = process.env;
const { WebSocketServer } = (await import(WS)).default;
const PROTOCOLS = ['talk.v2', 'talk.v1'];
const MESSAGE_MAX_BYTES = 4 * 1_024 * 1_024;

const orders = {
  close: (socket, code, ...words) => socket.close(Number(code), words.join(' ')),
  drop: (socket) => socket.terminate(),
  fragments: (socket, ...words) => {
    words.forEach((word, index) => socket.send(word, { fin: index === words.length - 1 }));
  },
  ping: (socket, words) => {
    socket.once('pong', (data) => socket.send(`pong ${data}`));
    socket.ping(words);
  },
  what: (socket) => {
    const isDeflated = socket.extensions === 'permessage-deflate';
    socket.send(JSON.stringify({ protocol: socket.protocol, isDeflated }));
  },
};

const sockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: true,
  maxPayload: MESSAGE_MAX_BYTES,
  handleProtocols: (offered) => PROTOCOLS.find((each) => offered.has(each)) ?? false,
});

function talk(socket, nonce) {
  socket.on('message', (data, isBinary) => {
    const text = isBinary ? '' : data.toString();
    if (!text.startsWith('!')) return socket.send(data, { binary: isBinary });
    const [order, ...words] = text.slice(1).split(' ');
    return orders[order](socket, ...words);
  });
  socket.on('close', (code, reason) => {
    appendFileSync(join(FOLDER, 'closed.jsonl'), `${JSON.stringify({ nonce, code, reason: reason.toString() })}\n`);
  });
  socket.on('error', () => socket.terminate());
}

const server = createServer((_request, response) => response.end('pong'));
server.on('upgrade', (request, socket, head) => {
  const { pathname, searchParams } = new URL(request.url, 'http://worker');
  if (pathname === '/talk') {
    sockets.handleUpgrade(request, socket, head, (opened) => talk(opened, searchParams.get('nonce')));
    return;
  }
  const lines = [
    'HTTP/1.1 403 Not You',
    'X-Why: a test',
    'Content-Type: text/plain',
    'Content-Length: 8',
    'Connection: close',
  ];
  socket.end([...lines, '', 'not you\n'].join('\r\n'));
});
server.listen(Number(PORT));
process.on('SIGTERM', () => process.exit(0));
