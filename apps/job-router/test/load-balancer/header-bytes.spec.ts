import type { Socket } from 'node:net';
import { eventually } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RawCaller } from './door-scene.js';
import { RawScene, lines, says } from './raw-scene.js';
import { onHead } from './raw-worker.js';

/** Every byte that may stand in a value beyond ASCII, and a word in UTF-8; a letter each, as latin1 has them. */
const BYTES = Array.from({ length: 128 }, (_, at) => String.fromCharCode(128 + at)).join('');
const WORD = Buffer.from('żółć, 日本').toString('latin1');
const VALUES = `${BYTES}\r\nX-Word: ${WORD}\r\n`;

const raw = new RawScene();
afterEach(() => raw.close());
const open = (act: (socket: Socket) => void): Promise<RawCaller> => raw.open(onHead(act));

const SOCKET = { Connection: 'Upgrade', Upgrade: 'websocket' };
const SWITCH = 'HTTP/1.1 101 Switching Protocols|Connection: Upgrade|Upgrade: websocket';

describe('bytes beyond ASCII reach the worker as they are', () => {
  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['without a body', {}, ''],
    ['with a body of known length', { 'Content-Length': '2' }, 'hi'],
    ['with a body in chunks', { 'Transfer-Encoding': 'chunked' }, lines('2|hi|0||')],
    ['with a body that comes later', { 'Content-Length': '2' }, ''],
  ])('in a request %s', async (_, framing, body) => {
    const caller = await open(says('HTTP/1.1 200 OK|Content-Length: 2||ok'));
    caller.ask('POST /', { 'X-Bytes': BYTES, 'X-Word': WORD, ...framing }, body);
    await caller.hears(/^HTTP\/1\.1 200 /);
    expect(raw.worker.heard[0]).toContain(`X-Bytes: ${VALUES}`);
  });

  test('in trailers, and in credentials for the worker', async () => {
    const caller = await open(says('HTTP/1.1 200 OK|Content-Length: 2||ok'));
    const headers = { 'X-Worker-Authorization': WORD, 'Transfer-Encoding': 'chunked', Trailer: 'X-T' };
    caller.ask('POST /', headers, lines(`2|hi|0|X-T: ${WORD}||`));
    await caller.hears(/^HTTP\/1\.1 200 /);
    await eventually(() => expect(raw.worker.heard[0]).toContain(lines(`|0|X-T: ${WORD}||`)));
    expect(raw.worker.heard[0]).toContain(`Authorization: ${WORD}\r\n`);
  });

  test('in a wish for a WebSocket', async () => {
    const caller = await open((socket) => socket.write(lines(`${SWITCH}||`)));
    caller.ask('GET /', { ...SOCKET, 'X-Bytes': BYTES, 'X-Word': WORD });
    await caller.hears(/^HTTP\/1\.1 101 /);
    expect(raw.worker.heard[0]).toContain(`X-Bytes: ${VALUES}`);
  });
});

describe('bytes beyond ASCII reach the caller as they are', () => {
  const headers = `X-Bytes: ${BYTES}|X-Word: ${WORD}`;

  test.each([
    ['an answer of known length', 'GET', `HTTP/1.1 200 OK|${headers}|Content-Length: 2||ok`],
    ['an answer in chunks', 'GET', `HTTP/1.1 200 OK|${headers}|Transfer-Encoding: chunked||2|ok|0||`],
    ['an answer that ends with its connection', 'GET', `HTTP/1.1 200 OK|${headers}||ok`],
    ['an empty answer', 'GET', `HTTP/1.1 200 OK|${headers}|Content-Length: 0||`],
    ['an answer without a body', 'GET', `HTTP/1.1 204 No Content|${headers}||`],
    ['an answer to HEAD', 'HEAD', `HTTP/1.1 200 OK|${headers}|Content-Length: 2||`],
    ['a word before an answer', 'GET', `HTTP/1.1 103 Early Hints|${headers}||HTTP/1.1 200 OK|Content-Length: 0||`],
    ['what stands behind an answer', 'GET', `HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|ok|0|${headers}||`],
    ['a refused WebSocket', 'UPGRADE', `HTTP/1.1 403 Forbidden|${headers}|Content-Length: 2||no`],
    ['a WebSocket', 'UPGRADE', `${SWITCH}|${headers}||`],
  ])('in %s', async (_, method, text) => {
    const caller = await open(says(text));
    if (method === 'UPGRADE') caller.ask('GET /', SOCKET);
    else caller.ask(`${method} /`, { TE: 'trailers' });
    await eventually(() => expect(caller.heard).toContain(`X-Bytes: ${VALUES}`));
  });

  test('in the reason beside a status', async () => {
    const caller = await open(says(`HTTP/1.1 200 ${WORD}|Content-Length: 2||ok`));
    caller.ask('GET /');
    await caller.hears(/ok$/);
    expect(caller.heard.split('\r\n')[0]).toBe(`HTTP/1.1 200 ${WORD}`);
  });

  test('in a stream, before anything of its body has come', async () => {
    const caller = await open((socket) => socket.write(lines(`HTTP/1.1 200 OK|${headers}||`), 'latin1'));
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/);
    expect(caller.heard).toContain(`X-Bytes: ${VALUES}`);
  });
});
