/**
 * A worker of a load-balanced endpoint that answers as each request says, so that a test decides when something happens: a
 * request with `?gate=NAME` is answered once there is a file NAME in the folder FOLDER, and is written down there before.
 * `/parts` says the nonce again and again, with its length or in chunks, and each that comes is written down.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { FOLDER, PORT, READY, RUNPOD_POD_ID: workerId, VERSION = '1' } = process.env;
const LOOK_MS = 20;
const PART_MS = 4;
const WEB_SOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** Two bytes and the mask, as clients send them. */
const FRAME_HEAD_BYTES = 6;
const [LENGTH_BITS, KIND_BITS, CLOSE] = [0x7f, 0x0f, 0x8];

let inFlight = 0;
let most = 0;

const isOpen = (gate) => existsSync(join(FOLDER, gate));

async function pass(gate, nonce) {
  if (gate === null) return;
  note('reached.jsonl', nonce);
  while (!isOpen(gate)) await sleep(LOOK_MS);
}

const note = (file, nonce) =>
  appendFileSync(join(FOLDER, file), `${JSON.stringify({ nonce, workerId, pid: process.pid })}\n`);

async function sayInParts(response, { framing, nonce, parts }) {
  note('tokens.jsonl', nonce);
  if (framing === 'length') response.setHeader('content-length', parts * nonce.length);
  for (let part = 0; part < parts; part += 1) {
    response.write(nonce);
    await sleep(PART_MS);
  }
  response.end();
}

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://worker');
  const [gate, nonce] = [searchParams.get('gate'), searchParams.get('nonce') ?? ''];
  response.setHeader('x-nonce', nonce).setHeader('x-version', VERSION);
  switch (pathname) {
    case '/echo':
      await pass(gate, nonce);
      request.pipe(response);
      return;
    case '/slow':
      await sleep(Number(searchParams.get('ms')));
      request.pipe(response);
      return;
    case '/parts':
      await sayInParts(response, {
        ...{ framing: searchParams.get('framing'), nonce },
        parts: Number(searchParams.get('parts')),
      });
      return;
    case '/big':
      response.end(Buffer.alloc(Number(searchParams.get('bytes')), 'berth'));
      return;
    case '/sse':
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
      await pass(gate, nonce);
      response.end('data: last\n\n');
      return;
    case '/most':
      response.end(JSON.stringify({ most }));
      return;
    default:
      response.writeHead(404).end();
  }
}

/** Says back each whole frame of up to 125 bytes, as a server's frame, and returns what is left; the last one is a close. */
function sayBack(bytes, socket) {
  let left = bytes;
  while (left.length >= FRAME_HEAD_BYTES) {
    const end = FRAME_HEAD_BYTES + (left[1] & LENGTH_BITS);
    if (left.length < end) return left;
    const [kind, mask] = [left[0], left.subarray(2, FRAME_HEAD_BYTES)];
    const payload = left.subarray(FRAME_HEAD_BYTES, end).map((byte, index) => byte ^ mask[index % mask.length]);
    socket.write(Buffer.concat([Buffer.from([kind, payload.length]), payload]));
    if ((kind & KIND_BITS) === CLOSE) socket.end();
    left = left.subarray(end);
  }
  return left;
}

const server = createServer((request, response) => {
  // Its host asks this; it is no request of a caller.
  if (request.headers['user-agent'] === 'berth-health-check') {
    response.writeHead(READY === undefined || isOpen(READY) ? 200 : 204).end();
    return;
  }
  inFlight += 1;
  most = Math.max(most, inFlight);
  response.once('close', () => (inFlight -= 1));
  if (request.url === '/ping') response.end('pong');
  else void answer(request, response);
});
server.on('upgrade', (request, socket, head) => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}${WEB_SOCKET_GUID}`)
    .digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write([...lines, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
  let unread = head;
  const read = (chunk) => (unread = sayBack(Buffer.concat([unread, chunk]), socket));
  socket.on('data', read).on('error', () => socket.destroy());
  read(Buffer.alloc(0));
});
server.listen(Number(PORT));
process.on('SIGTERM', () => process.exit(0));
