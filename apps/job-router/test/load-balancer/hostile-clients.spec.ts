import type { Socket } from 'node:net';
import { eventually, letRun } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { BODY_MAX_BYTES, HOST, type RawCaller, type SceneOptions } from './door-scene.js';
import { RawScene } from './raw-scene.js';
import { onHead, type RawAnswer } from './raw-worker.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const SOCKET = { Connection: 'Upgrade', Upgrade: 'websocket' };

const raw = new RawScene();
afterEach(() => raw.close());
const open = (answer: RawAnswer, options: SceneOptions = {}): Promise<RawCaller> =>
  raw.open(answer, { slotsPerWorker: 8, ...options });
const withOk = (options?: SceneOptions): Promise<RawCaller> =>
  open(
    onHead((socket) => socket.end(OK)),
    options,
  );

/** Its lines end as they are written here, but for `|`, which is the end of a line as HTTP has it. */
const say = (caller: RawCaller, text: string): void =>
  caller.say(
    text
      .replaceAll('|', '\r\n')
      .replaceAll('HOST', `Host: ${HOST}`)
      .replaceAll('KEY', `Authorization: Bearer ${raw.scene.key}`),
  );

/** Nothing of it has reached a worker. */
const isUnheard = (): void => expect(raw.worker.heard.join('')).toBe('');

describe('a head that two readers could take for two things', () => {
  test.each([
    ['no coding that we know', 'POST / HTTP/1.1|HOST|KEY|Transfer-Encoding: xchunked||0||'],
    ['chunks in chunks', 'POST / HTTP/1.1|HOST|KEY|Transfer-Encoding: chunked, chunked||0||'],
    ['chunks said twice', 'POST / HTTP/1.1|HOST|KEY|Transfer-Encoding: chunked|Transfer-Encoding: chunked||0||'],
    ['chunks for HTTP/1.0', 'POST / HTTP/1.0|HOST|KEY|Transfer-Encoding: chunked||0||'],
    ['a length with a sign', 'POST / HTTP/1.1|HOST|KEY|Content-Length: +2||ab'],
    ['an empty length', 'POST / HTTP/1.1|HOST|KEY|Content-Length: ||ab'],
    ['a length beyond all numbers', 'POST / HTTP/1.1|HOST|KEY|Content-Length: 99999999999999999999999||ab'],
    ['a NUL in a value', 'GET / HTTP/1.1|HOST|KEY|X-A: a\0b||'],
    ['a CR in a value', 'GET / HTTP/1.1|HOST|KEY|X-A: a\rX-B: b||'],
    ['a header without a name', 'GET / HTTP/1.1|HOST|KEY|: a||'],
    ['a name that is none', 'GET / HTTP/1.1|HOST|KEY|X(A): a||'],
    ['a space before its first header', 'GET / HTTP/1.1| X-A: a|HOST|KEY||'],
    ['a target with a space', 'GET /a b HTTP/1.1|HOST|KEY||'],
    ['a target with a control character', 'GET /a\x01b HTTP/1.1|HOST|KEY||'],
    ['a target that is not ASCII', 'GET /\xe9 HTTP/1.1|HOST|KEY||'],
    ['a target that is a name', 'GET ep1.lb.test HTTP/1.1|HOST|KEY||'],
    ['the target of a proxy', `GET http://${HOST}/ HTTP/1.1|HOST|KEY||`],
    ['a tunnel', `CONNECT ${HOST}:80 HTTP/1.1|HOST|KEY||`],
    ['HTTP/0.9', 'GET / HTTP/0.9|HOST|KEY||'],
    ['HTTP/2.0', 'GET / HTTP/2.0|HOST|KEY||'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0||SM||'],
    ['no host', 'GET / HTTP/1.1|KEY||'],
    ['two hosts in one', `GET / HTTP/1.1|Host: other.test, ${HOST}|KEY||`],
    ['a host behind a name', `GET / HTTP/1.1|Host: me@${HOST}|KEY||`],
    ['a host with a path', `GET / HTTP/1.1|Host: a/${HOST}|KEY||`],
    ['a host whose port is none', `GET / HTTP/1.1|Host: ${HOST}:80a|KEY||`],
    ['2,000 headers', `GET / HTTP/1.1|HOST|KEY|${'a: b|'.repeat(2_000)}|`],
  ])('%s: is refused or cut, and reaches no worker', async (_, text) => {
    const caller = await withOk();
    say(caller, text);
    await eventually(() => expect(/^HTTP\/1\.1 4\d\d /.test(caller.heard) || caller.isEnded).toBe(true));
    expect(caller.heard).not.toContain('HTTP/1.1 200');
    isUnheard();
  });

  test.each([
    ['a chunk that ends as it must not', '2\nab|0||'],
    ['a chunk beyond all numbers', 'FFFFFFFFFFFFFFFFF|ab|0||'],
    ['a chunk with a huge extension', `2;${'x'.repeat(30_000)}|ab|0||`],
    ['more trailers than a head has room for', `0|${'a: b|'.repeat(20_000)}|`],
    ['a trailer on two lines', '0|X-T: a| b||'],
    ['a trailer with a NUL', '0|X-T: a\0b||'],
  ])('%s: is told so and cuts the connection, and the worker hears no end', async (_, body) => {
    const caller = await open(onHead(() => undefined));
    say(caller, 'POST / HTTP/1.1|HOST|KEY|Transfer-Encoding: chunked||');
    await eventually(() => expect(raw.worker.heard[0]).toContain('\r\n\r\n'));
    say(caller, body);
    await caller.ends();
    expect(caller.heard).toMatch(/^HTTP\/1\.1 4(?:00|31) /);
    await eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(0));
    expect(raw.worker.heard[0]).not.toMatch(/\r\n0\r\n/);
  });

  test.each(['//other.test/', '/a/../../b', '/%2e%2e%00%zz', '/?a=b?c#d', '*'])(
    'the target %s passes as it is',
    async (target) => {
      const caller = await withOk();
      caller.ask(`OPTIONS ${target}`);
      await caller.hears(/^HTTP\/1\.1 200 /);
      expect(raw.worker.heard[0]?.split(' ')[1]).toBe(target);
    },
  );

  test.each(['EP1.LB.test', 'ep1.lb.test.', 'ep1.lb.test:80', 'ep1.lb.test.:8001'])(
    'the host %s is the endpoint’s',
    async (host) => {
      const caller = await withOk();
      caller.ask('GET /', { Host: host });
      await caller.hears(/^HTTP\/1\.1 200 /);
      expect(raw.worker.heard[0]).toContain(`\r\nHost: ${host}\r\n`);
    },
  );
});

describe('words that are ours', () => {
  test('are said by us alone, however the caller spells them, and no Connection takes them away', async () => {
    const caller = await withOk();
    say(
      caller,
      'POST / HTTP/1.1|HOST|KEY|Connection: Authorization, Host, Content-Length, X-Forwarded-For, X-Request-Id|' +
        'Connection: close, X-Worker-Authorization|Content-Length: 2|X-Forwarded-For: 6.6.6.6|X_Forwarded_For: 6.6.6.6|' +
        'X-FORWARDED-HOST: 6.6.6.6|X-Forwarded-Proto: 6.6.6.6|Forwarded: for=6.6.6.6|X-Request-Id: req_6.6.6.6|X-Real-Ip: 6.6.6.6|' +
        'X-Forwarded-Port: 6666|X-Forwarded-Prefix: /6.6.6.6|x_real_ip: 6.6.6.6|True-Client-IP: 6.6.6.6|Proxy: http://6.6.6.6|' +
        'X-Runpod-Worker-Id: w1|x_request_id: 6.6.6.6|Tracestate: a=6.6.6.6||ab',
    );
    await caller.hears(/^HTTP\/1\.1 200 [^]*ok$/);
    const heard = raw.worker.heard[0] ?? '';
    expect(heard).not.toMatch(/6\.6\.6\.6|6666|authorization|bk_|worker-id|x_/i);
    for (const name of ['Host', 'Content-Length', 'X-Forwarded-For', 'X-Request-Id', 'X-Real-Ip', 'Connection'])
      expect(heard.match(new RegExp(`\r\n${name}: `, 'g'))).toHaveLength(1);
    expect(heard).toMatch(/\r\n\r\nab$/);
  });

  test.each(['Content_Length: 9', 'Transfer_Encoding: chunked', 'content_length: 0', 'X-Http_Method-Override: a'])(
    '%s, which some read as the end of the body, goes on only where it is none of these',
    async (field) => {
      const caller = await withOk();
      say(caller, `POST / HTTP/1.1|HOST|KEY|${field}|Content-Length: 2||ab`);
      await caller.hears(/^HTTP\/1\.1 200 [^]*ok$/);
      expect(raw.worker.heard[0]?.includes(field)).toBe(field.startsWith('X-'));
      expect(raw.worker.heard[0]).toMatch(/\r\nContent-Length: 2\r\n[^]*\r\n\r\nab$/);
    },
  );

  test('do not come behind a body either', async () => {
    const caller = await open(onHead(() => undefined));
    say(
      caller,
      'POST / HTTP/1.1|HOST|KEY|Transfer-Encoding: chunked||0|Authorization: x|Host: x|X-Forwarded-For: x|X-Worker-Authorization: x|' +
        'Connection: x|Cookie: x|X-Runpod-Worker-Id: x|X-Own: \xe9||',
    );
    await eventually(() => expect(raw.worker.heard[0]).toMatch(/\r\n\r\n0\r\nX-Own: \xe9\r\n\r\n$/));
  });
});

describe('a wish for another protocol', () => {
  test.each(['h2c', 'TLS/1.0', 'websocket, h2c', ''])('for %p is ignored', async (upgrade) => {
    const caller = await withOk();
    caller.ask('GET /', {
      Connection: 'Upgrade, HTTP2-Settings',
      Upgrade: upgrade,
      'HTTP2-Settings': 'AAMAAABkAAQAAP__',
    });
    await caller.hears(/^HTTP\/1\.1 200 /);
    expect(raw.worker.heard[0]).not.toMatch(/upgrade|h2c|settings/i);
  });

  test.each([
    ['of HTTP/1.0', 'GET / HTTP/1.0|HOST|KEY|Connection: Upgrade|Upgrade: websocket||', ''],
    ['with a body', 'GET / HTTP/1.1|HOST|KEY|Connection: Upgrade|Upgrade: websocket|Content-Length: 5||abcde', 'abcde'],
    [
      'with chunks',
      'GET / HTTP/1.1|HOST|KEY|Connection: Upgrade|Upgrade: websocket|Transfer-Encoding: chunked||2|ab|0||',
      '2\r\nab\r\n0\r\n\r\n',
    ],
  ])('for a WebSocket %s is a request like any other', async (_, text, body) => {
    const caller = await open((socket, heard) => {
      if (heard.endsWith(`\r\n\r\n${body}`)) socket.end(OK);
    });
    say(caller, text);
    await caller.hears(/^HTTP\/1\.1 200 [^]*ok$/);
    expect(raw.worker.heard[0]).not.toMatch(/upgrade/i);
  });

  test.each([
    ['by us', { Authorization: null }, 401],
    ['by the worker', {}, 200],
  ])('for a WebSocket that is answered %s ends with its connection', async (_, more, status) => {
    const caller = await withOk();
    caller.ask('GET /', { ...SOCKET, ...more });
    await caller.hears(new RegExp(`^HTTP/1\\.1 ${status} `));
    await caller.ends();
    caller.socket.end();
    await eventually(() => expect(caller.isClosed).toBe(true));
  });

  test('that was sent ahead never comes into another’s answer', async () => {
    const caller = await open(onHead(() => undefined));
    caller.ask('GET /first');
    caller.ask('GET /socket', SOCKET);
    await caller.ends();
    expect(caller.heard).toBe('');
    await eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(0));
  });

  test('that sends on and on before its answer is cut', async () => {
    const caller = await open(onHead(() => undefined));
    caller.ask('GET /', SOCKET);
    await eventually(() => expect(raw.worker.heard[0]).toContain('\r\n\r\n'));
    caller.say('x'.repeat(128 * 1_024));
    await caller.ends();
    await eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(0));
    expect(raw.worker.heard[0]).not.toContain('xx');
  });
});

describe('a connection', () => {
  test('goes on behind refusals whose bodies were small, and each answer is its own', async () => {
    const caller = await withOk();
    caller.ask('POST /1', { Authorization: null, 'Content-Length': '3' }, 'abc');
    caller.ask('POST /2', { 'X-Runpod-Worker-Id': 'strict gone', 'Content-Length': '3' }, 'abc');
    caller.ask('GET /3');
    caller.ask('GET /4', { Host: 'nothing.lb.test' });
    caller.ask('GET /5');
    await caller.hears(
      /^HTTP\/1\.1 401 [^]*HTTP\/1\.1 404 [^]*HTTP\/1\.1 200 [^]*HTTP\/1\.1 404 [^]*HTTP\/1\.1 200 [^]*ok$/,
    );
    expect(raw.worker.heard.map((heard) => heard.split(' ')[1]).sort()).toEqual(['/3', '/5']);
  });

  test.each<[string, Record<string, string | null>, string]>([
    ['declared', { 'Content-Length': String(BODY_MAX_BYTES + 1) }, 'GET /hidden HTTP/1.1\r\n\r\n'],
    ['in chunks', { Authorization: null, 'Transfer-Encoding': 'chunked' }, 'ff\r\nGET /hidden HTTP/1.1\r\n\r\n'],
  ])(
    'ends behind the refusal of a body that is %s, which is no place for another request',
    async (_, headers, body) => {
      const caller = await withOk();
      caller.ask('POST /', headers, body);
      await caller.hears(/^HTTP\/1\.1 4\d\d [^]*Connection: close/i);
      await caller.ends();
      expect(caller.heard.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      isUnheard();
    },
  );

  test('answers what was sent ahead in its order, whoever is done first', async () => {
    const first: Socket[] = [];
    const caller = await open(
      onHead((socket) => {
        if (raw.worker.heard[raw.worker.sockets.indexOf(socket)]?.startsWith('GET /slow') === true) first.push(socket);
        else
          socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfast');
      }),
    );
    caller.ask('GET /slow');
    caller.ask('GET /fast');
    await eventually(() => expect(raw.worker.heard).toHaveLength(2));
    await eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(1));
    expect(caller.heard).toBe('');
    first[0]?.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow');
    await caller.hears(/^HTTP\/1\.1 200 [^]*slowHTTP\/1\.1 103 [^]*HTTP\/1\.1 200 [^]*fast$/);
  });

  test('has one request at a time that may have effects', async () => {
    const caller = await open(
      onHead((socket) => {
        if (raw.worker.heard.length > 1) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      }),
    );
    caller.ask('POST /first', { 'Content-Length': '3' }, 'abc');
    caller.ask('POST /second', { 'Content-Length': '3' }, 'def');
    await eventually(() => expect(raw.worker.heard[0]).toContain('abc'));
    await letRun();
    expect(raw.worker.heard).toHaveLength(1);
    raw.worker.sockets[0]?.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    await eventually(() => expect(raw.worker.heard).toHaveLength(2));
    await caller.hears(/^HTTP\/1\.1 200 [^]*okHTTP\/1\.1 200 [^]*ok$/);
  });

  test('that is dropped by its caller with requests sent ahead lets every worker go', async () => {
    const caller = await open(onHead(() => undefined));
    for (let n = 0; n < 8; n += 1) caller.ask(`GET /${n}`);
    await eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(8));
    caller.socket.resetAndDestroy();
    await eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(0));
    expect(raw.scene.parts.places.total()).toEqual({ held: 0, inFlight: 0 });
  });

  test('on which a body drips is over before the time of its endpoint is', async () => {
    const caller = await open(onHead(() => undefined));
    caller.ask('POST /', { 'Content-Length': '100' });
    await eventually(() => expect(raw.worker.heard[0]).toContain('\r\n\r\n'));
    for (let dripped = 1; dripped <= 2; dripped += 1) {
      await raw.scene.manualClock().advance(50_000);
      caller.say('x');
      await eventually(() => expect(raw.worker.heard[0]).toMatch(new RegExp(`\r\n\r\nx{${dripped}}$`)));
    }
    await raw.scene.manualClock().advance(20_003);
    await caller.hears(/^HTTP\/1\.1 408 [^]*x-berth-error: request-timeout/);
    await eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(0));
  });
});
