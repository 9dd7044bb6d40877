/** A worker that says what of a request came to it, and answers in each way that HTTP/1.1 knows. */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const { FOLDER, PORT } = process.env;
const ETAG = '"one"';
const PIECES = 64;

async function mirror(request, response) {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  const { headers, httpVersion, method, trailers, url } = request;
  const said = { method, url, httpVersion, bytes, sha256: hash.digest('hex'), trailers, headers };
  const body = JSON.stringify(said);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}

/** The body comes back in chunks, and what it was behind it. */
async function echo(request, response) {
  const hash = createHash('sha256');
  response.writeHead(200, { 'content-type': 'application/octet-stream', trailer: 'X-Sum' });
  for await (const chunk of request) {
    hash.update(chunk);
    response.write(chunk);
  }
  response.addTrailers({ 'X-Sum': `${hash.digest('hex')} ${request.trailers['x-last'] ?? ''}` });
  response.end();
}

const paths = {
  '/echo': echo,
  '/hints': (_request, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    response.end('hinted');
  },
  '/nothing': (_request, response) => response.writeHead(204, { 'x-own': 'yes' }).end(),
  '/cached': (request, response) => {
    const isFresh = request.headers['if-none-match'] === ETAG;
    response.writeHead(isFresh ? 304 : 200, { etag: ETAG }).end(isFresh ? undefined : 'cached');
  },
  '/packed': (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'.repeat(1_000)));
  },
  '/pieces': (_request, response) => {
    for (let piece = 0; piece < PIECES; piece += 1) response.write(`piece ${piece}\n`);
    response.end();
  },
  '/cookies': (_request, response) => response.setHeader('set-cookie', ['a=1; Path=/', 'b=2; Path=/']).end('cookies'),
  '/events': (request, response) => {
    const nonce = new URL(request.url, 'http://worker').searchParams.get('nonce');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 0\ndata: event 0\n\n');
    response.once('close', () => appendFileSync(join(FOLDER, 'left.jsonl'), `${JSON.stringify({ nonce })}\n`));
  },
};

function answer(request, response) {
  const path = request.url.split('?')[0];
  if (path === '/ping') response.end('pong');
  else void (paths[path] ?? mirror)(request, response);
}

const server = createServer(answer);
server.on('checkContinue', (request, response) => {
  if (request.url === '/unwanted') response.writeHead(417, { connection: 'close' }).end('unwanted');
  else {
    response.writeContinue();
    answer(request, response);
  }
});
server.listen(Number(PORT));
process.on('SIGTERM', () => process.exit(0));
