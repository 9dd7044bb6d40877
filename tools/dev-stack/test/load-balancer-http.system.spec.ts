import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client } from 'undici';
import { StartedStack } from '../src/started-stack.js';
import { bodyOf, curl } from './clients/curl.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';
import { webPython } from './stack/web-python.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 50 };
const IMAGES = resolve(import.meta.dirname, 'workers');
const SCRIPTS = resolve(import.meta.dirname, 'clients');
const LARGE = randomBytes(1_024 * 1_024);
const SUM = createHash('sha256').update(LARGE).digest('hex');
const run = promisify(execFile);

let stack: StartedStack;
let python: string;
let mirror: BalancedEndpoint;
/** LARGE. */
let file: string;
beforeAll(async () => {
  python = await webPython();
  const flags = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
  stack = await StartedStack.start(flags);
  file = join(stack.home, 'large');
  await writeFile(file, LARGE);
  mirror = await BalancedEndpoint.create(stack, {
    image: 'local/mirror',
    requestCount: 8,
    workers: { min: 1, max: 1 },
  });
  await mirror.up(1);
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

const baseOf = (endpoint: BalancedEndpoint): string => `http://${endpoint.routerAt().host}:${endpoint.routerAt().port}`;
const hostOf = (endpoint: BalancedEndpoint): string => String(endpoint.headersOf({}).host);

describe('curl', () => {
  test('sends a body once the worker says that it may, and none where it does not', async () => {
    const wish = ['--upload-file', file, '--header', 'Expect: 100-continue', '--expect100-timeout', '60'];
    const taken = await curl(mirror, '/mirror', wish);
    expect(taken).toMatchObject({ status: 200, uploaded: LARGE.length });
    expect(taken.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(bodyOf(taken)).toMatchObject({ bytes: LARGE.length, sha256: SUM });
    const refused = await curl(mirror, '/unwanted', wish);
    expect(refused).toMatchObject({ status: 417, uploaded: 0 });
    expect(refused.text).toMatch(/^HTTP\/1\.1 417 [^]*unwanted$/);
  });

  test('hears of hints before the answer', async () => {
    const { text: heard } = await curl(mirror, '/hints', []);
    expect(heard).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nlink: <\/style\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/i,
    );
  });

  test.each(['PROPFIND', 'M-SEARCH', 'PURGE', 'QUERY', 'DELETE'])('asks by %s, byte for byte', async (method) => {
    const target = '/a/../b//c;d=1?x=%zz&&y=%c3%A9+z&q[]=1?';
    const report = await curl(mirror, target, ['--request', method]);
    expect(report.status).toBe(200);
    expect(bodyOf(report)).toMatchObject({ method, url: target });
  });

  test('asks in HTTP/1.0, and has whole answers without chunks', async () => {
    const put = await curl(mirror, '/mirror', ['--http1.0', '--upload-file', file, '--header', 'Expect:']);
    expect(bodyOf(put)).toMatchObject({ method: 'PUT', httpVersion: '1.1', bytes: LARGE.length, sha256: SUM });
    const { text: pieces } = await curl(mirror, '/pieces', ['--http1.0']);
    expect(pieces).not.toMatch(/^transfer-encoding/im);
    expect(pieces).toMatch(/\r\n\r\npiece 0\n[^]*piece 63\n$/);
  });
});

describe('Node', () => {
  test('hears hints, is told to go on, and has trailers both ways', async () => {
    const { host, port } = mirror.routerAt();
    const headers = { ...mirror.headersOf({}), expect: '100-continue', te: 'trailers', trailer: 'X-Last' };
    const asked = httpRequest({ host, port, path: '/echo', method: 'POST', headers, agent: false });
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    const continued = once(asked, 'continue');
    asked.flushHeaders();
    await continued;
    asked.addTrailers({ 'X-Last': 'words' });
    asked.end(LARGE);
    const [answer] = await answered;
    expect((await buffer(answer)).equals(LARGE)).toBe(true);
    expect(answer.trailers).toEqual({ 'x-sum': `${SUM} words` });
    const hinted = httpRequest({ host, port, path: '/hints', headers: mirror.headersOf({}), agent: false }).end();
    const [[hint], [last]] = await Promise.all([once(hinted, 'information'), once(hinted, 'response')]);
    expect([hint, last]).toMatchObject([{ statusCode: 103, headers: { link: '</style.css>; rel=preload' } }, {}]);
    expect(await text(last as IncomingMessage)).toBe('hinted');
  });

  test('asks conditionally, for nothing, for chunks and by HEAD with undici, all on one connection', async () => {
    const client = new Client(baseOf(mirror));
    let connections = 0;
    client.on('connect', () => (connections += 1));
    const ask = async (method: 'GET' | 'HEAD', path: string) => {
      const headers = { ...mirror.headersOf({}), 'if-none-match': '"one"' };
      const answer = await client.request({ method, path, headers });
      return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
    };
    const length = expect.stringMatching(/^[1-9]\d*$/) as unknown;
    expect(await ask('GET', '/cached')).toMatchObject({ status: 304, body: '', headers: { etag: '"one"' } });
    expect(await ask('GET', '/nothing')).toMatchObject({ status: 204, body: '', headers: { 'x-own': 'yes' } });
    const pieces = await ask('GET', '/pieces');
    expect(pieces).toMatchObject({ status: 200, headers: { 'transfer-encoding': 'chunked' } });
    expect(pieces.body).toMatch(/^piece 0\n[^]*piece 63\n$/);
    expect(await ask('HEAD', '/mirror')).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': length },
    });
    expect(connections).toBe(1);
    await client.close();
  });

  test('sends requests ahead with undici, and has each answer in its turn', async () => {
    const client = new Client(baseOf(mirror), { pipelining: 8 });
    const headers = mirror.headersOf({});
    const numbers = Array.from({ length: 64 }, (_, number) => number);
    const answers = numbers.map(async (number) => {
      const { body } = await client.request({ method: 'GET', path: `/mirror?number=${number}`, headers });
      return ((await body.json()) as { readonly url: string }).url;
    });
    expect(await Promise.all(answers)).toEqual(numbers.map((number) => `/mirror?number=${number}`));
    await client.close();
  });
});

test('Python’s requests, httpx and aiohttp have what a worker says to them', async () => {
  const script = join(SCRIPTS, 'http-calls.py');
  const { stdout } = await run(python, [script, baseOf(mirror), hostOf(mirror), stack.dev.apiKey]);
  const common = {
    ...{ whole: [LARGE.length, true, String(LARGE.length)], chunked: [LARGE.length, true, 'chunked'], echoed: true },
    ...{ head: [200, true, 0], nothing: [204, 'yes', 0], cached: [304, '"one"', 0], packed: true, pieces: 64 },
    cookies: ['a', 'b'],
  };
  const hinted = [200, 'hinted'];
  const all = { requests: common, httpx: { ...common, hinted }, aiohttp: { ...common, hinted } };
  expect(JSON.parse(stdout)).toEqual(all);
});

describe.each(['mirror', 'talks-fastapi'])('a listener to the events of a worker of %s', (image) => {
  test('hears the first before there is another, and the worker hears that it has gone', async () => {
    const env = { PYTHON: python };
    const workers = { min: 1, max: 1 };
    const endpoint = await BalancedEndpoint.create(stack, { image: `local/${image}`, env, requestCount: 2, workers });
    await endpoint.up(1);
    const args = [baseOf(endpoint), hostOf(endpoint), stack.dev.apiKey, 'mine'];
    const listener = spawn(python, [join(SCRIPTS, 'event-listener.py'), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let heard = '';
    listener.stdout.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    await eventually(() => expect(heard).toBe('data: event 0\n'), WAIT);
    expect(endpoint.noted('left.jsonl')).toEqual([]);
    await eventually(async () => expect(await endpoint.workers()).toMatchObject([{ status: 'RUNNING' }]), WAIT);
    listener.stdin.end();
    await eventually(() => expect(endpoint.noted('left.jsonl')).toEqual([{ nonce: 'mine' }]), WAIT);
    await eventually(async () => expect(await endpoint.workers()).toMatchObject([{ status: 'IDLE' }]), WAIT);
    await endpoint.remove();
  });
});
