import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccountId, EndpointId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TrustedProxies } from '@berth/http';
import { BODY_MAX_BYTES, DoorScene, HOST, type RawCaller, type SceneOptions } from './door-scene.js';

let scene: DoorScene;
/** What the worker was asked, as it came. */
let seen: IncomingMessage[];
beforeEach(() => {
  seen = [];
});
afterEach(() => scene.close());

const open = async (options: SceneOptions = {}): Promise<DoorScene> => {
  scene = new DoorScene(options);
  await scene.open();
  return scene;
};

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  seen.push(request);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => response.end(`got ${Buffer.concat(chunks).toString()};`));
};

const withEcho = async (options: SceneOptions = {}): Promise<RawCaller> => {
  await open(options);
  await scene.addWorker('w1', echo);
  return scene.caller();
};

const headersOf = (request: IncomingMessage | undefined): string => (request?.rawHeaders ?? []).join('\n');

describe('a request', () => {
  test('comes to the worker byte for byte, but for what was for us', async () => {
    const caller = await withEcho();
    caller.ask('PROPFIND /a%2f../b?x=%zz&y', { 'X-Own': 'Value', 'x-own': 'again', Connection: 'X-Hop', 'X-Hop': '1' });
    await caller.hears('got ;');
    expect([seen[0]?.method, seen[0]?.url]).toEqual(['PROPFIND', '/a%2f../b?x=%zz&y']);
    expect(headersOf(seen[0])).toContain('X-Own\nValue\nx-own\nagain');
    expect(headersOf(seen[0])).not.toMatch(/authorization|X-Hop|bk_/i);
    expect(seen[0]?.headers).toMatchObject({
      ...{ host: HOST, 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': HOST, 'x-forwarded-proto': 'http' },
      ...{ forwarded: `for=127.0.0.1;host=${HOST};proto=http`, 'content-length': '0' },
    });
    expect(seen[0]?.headers['x-request-id']).toMatch(/^req_/);
    expect(caller.heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(caller.heard).toContain('X-Runpod-Worker-Id: w1');
    expect(caller.heard).toContain(`X-Request-Id: ${String(seen[0]?.headers['x-request-id'])}`);
  });

  test('carries the worker’s own credentials in a header beside ours', async () => {
    const caller = await withEcho();
    caller.ask('GET /', { 'X-Worker-Authorization': 'Basic abc' });
    await caller.hears('got ;');
    expect(seen[0]?.headers.authorization).toBe('Basic abc');
    expect(seen[0]?.headers['x-worker-authorization']).toBeUndefined();
  });

  test('keeps its connection for the next one, with a body of known length or in chunks', async () => {
    const caller = await withEcho();
    caller.ask('POST /', { 'Content-Length': '3' }, 'one');
    await caller.hears('got one;');
    caller.ask('POST /', { 'Transfer-Encoding': 'chunked', Trailer: 'X-T' }, '3\r\ntwo\r\n0\r\nX-T: t\r\n\r\n');
    await caller.hears('got two;');
    expect(seen[1]?.trailers).toEqual({ 'x-t': 't' });
  });

  test('that was sent ahead is answered in its turn', async () => {
    const caller = await withEcho({ slotsPerWorker: 2 });
    for (const body of ['a', 'b', 'c']) caller.ask('POST /', { 'Content-Length': '1' }, body);
    await caller.hears(/got a;[^]*got b;[^]*got c;/);
  });

  test('has come from an IPv4 address also where the router listens for both kinds', async () => {
    const caller = await withEcho({ listensAt: '::' });
    caller.ask('GET /');
    await caller.hears('got ;');
    expect(seen[0]?.headers).toMatchObject({
      ...{ 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' },
      forwarded: `for=127.0.0.1;host=${HOST};proto=http`,
    });
  });

  test('is taken to one place by the word of a trusted proxy, and by nobody else’s', async () => {
    const caller = await withEcho({ trustedProxies: new TrustedProxies(['127.0.0.1']) });
    caller.ask('GET /', {
      'X-Forwarded-For': '203.0.113.9',
      'X-Forwarded-Proto': 'https',
      Forwarded: 'for=203.0.113.9',
    });
    await caller.hears('got ;');
    expect(seen[0]?.headers).toMatchObject({
      ...{ 'x-forwarded-for': '203.0.113.9, 127.0.0.1', 'x-forwarded-proto': 'https' },
      forwarded: `for=203.0.113.9, for=127.0.0.1;host=${HOST};proto=https`,
    });
  });
});

describe('an answer', () => {
  test('is heard while it is made, with what came before its head and behind its end', async () => {
    await open();
    let finish = (): void => undefined;
    await scene.addWorker('w1', (_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(200, { 'content-type': 'text/event-stream', trailer: 'X-End' });
      response.write('data: first\n\n');
      finish = () => {
        response.addTrailers({ 'X-End': 'yes' });
        response.end('data: last\n\n');
      };
    });
    const caller = scene.caller();
    caller.ask('GET /events', { TE: 'trailers' });
    await caller.hears('data: first');
    expect(caller.heard).toMatch(/^HTTP\/1\.1 103 Early Hints\r\n/);
    expect(caller.heard).not.toContain('last');
    finish();
    await caller.hears(/data: last\n\n\r\n0\r\nX-End: yes\r\n\r\n$/);
  });

  test('of the worker passes untouched where it is an error, without our mark', async () => {
    await open();
    await scene.addWorker('w1', (_request, response) =>
      response.writeHead(503, 'Own Words', { 'X-Berth-Error': 'x' }).end('no'),
    );
    const caller = scene.caller();
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 503 Own Words\r\n[^]*no/);
    expect(caller.heard).not.toMatch(/x-berth-error/i);
  });

  test('that is no HTTP is a marked 502', async () => {
    await open();
    await scene.addWorker('w1', (request) => request.socket.end('SSH-2.0-OpenSSH\r\n\r\n'));
    const caller = scene.caller();
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 502 /);
    expect(caller.heard).toContain('x-berth-error: worker-answer-invalid');
    expect(caller.heard).toContain('/docs/problems/worker-answer-invalid');
  });

  test('that does not come, since the connection is lost, is a marked 502 and no second try', async () => {
    await open();
    let asked = 0;
    const die = (request: IncomingMessage): void => {
      asked += 1;
      request.socket.resetAndDestroy();
    };
    await scene.addWorker('w1', die);
    await scene.addWorker('w2', die);
    const caller = scene.caller();
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 502 [^]*x-berth-error: worker-connection-lost[^]*X-Runpod-Worker-Id: w1/);
    expect(asked).toBe(1);
  });

  test.each<[string, Record<string, string>]>([
    ['of known length', { 'content-length': '100' }],
    ['in chunks', {}],
  ])('%s that breaks off is cut, never ended', async (_, headers) => {
    await open();
    await scene.addWorker('w1', (request, response) => {
      response.writeHead(200, headers);
      response.write('some', () => request.socket.resetAndDestroy());
    });
    const caller = scene.caller();
    caller.ask('GET /');
    await caller.ends();
    expect(caller.heard).toContain('some');
    expect(caller.heard).not.toContain('\r\n0\r\n');
  });

  test('for HTTP/1.0, which its end of connection ends, is cut by a reset', async () => {
    await open();
    await scene.addWorker('w1', (request, response) => {
      response.writeHead(200);
      response.write('some', () => request.socket.resetAndDestroy());
    });
    const caller = scene.caller();
    caller.say(`GET / HTTP/1.0\r\nHost: ${HOST}\r\nAuthorization: Bearer ${scene.key}\r\n\r\n`);
    await eventually(() => expect(caller.isReset).toBe(true));
  });

  test('whose caller has gone is the end for the worker too', async () => {
    await open();
    let isGone = false;
    await scene.addWorker('w1', (_request, response) => {
      response.write('begun');
      response.on('close', () => (isGone = true));
    });
    const caller = scene.caller();
    caller.ask('GET /');
    await caller.hears('begun');
    caller.socket.destroy();
    await eventually(() => expect(isGone).toBe(true));
    await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
  });
});

describe('a body', () => {
  test('is not asked for before the worker asks', async () => {
    const caller = await withEcho();
    caller.ask('POST /', { Expect: '100-continue', 'Content-Length': '2' });
    await caller.hears('HTTP/1.1 100 Continue\r\n\r\n');
    caller.say('ok');
    await caller.hears('got ok;');
    expect(caller.heard.match(/100 Continue/g)).toHaveLength(1);
  });

  test('that is said to be too large is refused before anybody is asked', async () => {
    const caller = await withEcho();
    caller.ask('POST /', { Expect: '100-continue', 'Content-Length': String(BODY_MAX_BYTES + 1) });
    await caller.hears(/^HTTP\/1\.1 413 /);
    expect(scene.link.asked).toEqual([]);
  });

  test('that becomes too large is refused where nothing was answered', async () => {
    const caller = await withEcho();
    const size = 64 * 1_024;
    caller.ask('POST /', { 'Transfer-Encoding': 'chunked' });
    for (let sent = 0; sent <= BODY_MAX_BYTES; sent += size)
      caller.say(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
    await caller.hears(/HTTP\/1\.1 413 /);
    await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
  });

  test('of which nobody has shown a good key is not read, and wakes nobody', async () => {
    await open();
    const caller = scene.caller();
    caller.ask('POST /', { Authorization: null, Expect: '100-continue', 'Content-Length': '5' });
    await caller.hears(/^HTTP\/1\.1 401 [^]*www-authenticate: bearer/i);
    expect(caller.heard).not.toContain('100 Continue');
    expect(scene.parts.places.endpointIds()).toEqual([]);
  });

  test('whose sender stops is given up in time', async () => {
    const caller = await withEcho();
    caller.ask('POST /', { 'Content-Length': '5' }, 'ab');
    await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(1));
    await eventually(() => expect(seen).toHaveLength(1));
    await scene.manualClock().advance(120_001);
    await caller.hears(/^HTTP\/1\.1 408 [^]*x-berth-error: request-timeout/);
  });
});

describe('who may ask', () => {
  test.each([
    ['a key without the scope', () => scene.newKey(['jobs:read']), 403],
    ['a key of other endpoints', () => scene.newKey(['jobs:write'], { endpointIds: ['other' as EndpointId] }), 403],
    ['a key of another account', () => scene.newKey(['jobs:write'], { accountId: 'a2' as AccountId }), 404],
    ['no key of ours', () => 'nothing', 401],
  ])('%s is refused', async (_, keyOf, status) => {
    await withEcho();
    const caller = scene.caller();
    caller.ask('GET /', { Authorization: `Bearer ${keyOf()}` });
    await caller.hears(`HTTP/1.1 ${status} `);
    expect(scene.link.asked).toEqual([]);
  });

  test('nobody by a cookie, which the worker of another endpoint may have set', async () => {
    const caller = await withEcho();
    caller.ask('GET /', { Authorization: null, Cookie: `authorization=Bearer ${scene.key}; key=${scene.key}` });
    await caller.hears('HTTP/1.1 401');
    expect(scene.link.asked).toEqual([]);
  });

  test('everybody, where the endpoint is public: without a key, or with one that is the worker’s', async () => {
    const caller = await withEcho({ endpoint: { access: { isPublic: true, allowsPreflights: false } } });
    caller.ask('GET /', { Authorization: 'Basic own' });
    await caller.hears('got ;');
    expect(seen[0]?.headers.authorization).toBe('Basic own');
    const other = scene.caller();
    other.ask('GET /', { Authorization: null });
    await other.hears('got ;');
  });

  test.each([
    ['a public endpoint', { isPublic: true, allowsPreflights: false }, 'GET'],
    ['an endpoint that lets preflights through', { isPublic: false, allowsPreflights: true }, 'OPTIONS'],
  ])('a key of ours goes to no worker of %s', async (_, access, method) => {
    const caller = await withEcho({ endpoint: { access } });
    const preflight = { Origin: 'https://a.test', 'Access-Control-Request-Method': 'GET' };
    const shown = [
      `Bearer ${scene.key}`,
      scene.key,
      `bearer  ${scene.newKey([])}`,
      `Basic own\r\nAuthorization: ${scene.key}`,
    ];
    for (const [at, Authorization] of shown.entries()) {
      caller.ask(`${method} /`, { ...preflight, Authorization });
      await eventually(() => expect(caller.heard.match(/got ;/g)).toHaveLength(at + 1));
    }
    expect(seen.map(headersOf).join('\n')).not.toMatch(/authorization|bk_/i);
  });

  test('a browser’s preflight, where it is let through, and then nothing else; it wakes nobody', async () => {
    const caller = await withEcho({ endpoint: { access: { isPublic: false, allowsPreflights: true } } });
    const preflight = { Authorization: null, Origin: 'https://a.test', 'Access-Control-Request-Method': 'POST' };
    caller.ask('OPTIONS /', preflight);
    await caller.hears('got ;');
    caller.ask('OPTIONS /', { ...preflight, Origin: null });
    await caller.hears('HTTP/1.1 401');
    scene.change('w1', null);
    const other = scene.caller();
    other.ask('OPTIONS /', preflight);
    await other.hears('HTTP/1.1 503');
    expect(scene.parts.places.total().held).toBe(0);
  });

  test('nobody at the name of a queue, or of nothing', async () => {
    const caller = await withEcho();
    caller.ask('GET /', { Host: 'queue.LB.test:80' });
    await caller.hears(/^HTTP\/1\.1 400 [^]*"error":"not allowed for QB API"/);
    caller.ask('GET /', { Host: 'nothing.lb.test' });
    await caller.hears('HTTP/1.1 404');
  });
});

describe('bytes that two readers could take for two things', () => {
  const refused = async (text: string): Promise<void> => {
    const caller = await withEcho();
    caller.say(text.replaceAll('\n', '\r\n').replaceAll('KEY', `Authorization: Bearer ${scene.key}`));
    await caller.hears(/^HTTP\/1\.1 4\d\d /);
    expect(scene.link.asked).toEqual([]);
  };
  test.each([
    [
      'a length and chunks',
      `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nContent-Length: 4\nTransfer-Encoding: chunked\n\n0\n\n`,
    ],
    [
      'chunks and a length',
      `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nTransfer-Encoding: chunked\nContent-Length: 4\n\n0\n\n`,
    ],
    ['two lengths', `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nContent-Length: 4\nContent-Length: 5\n\nabcde`],
    ['two equal lengths', `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nContent-Length: 4\nContent-Length: 4\n\nabcd`],
    ['a list of lengths', `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nContent-Length: 4, 4\n\nabcd`],
    ['another coding', `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nTransfer-Encoding: gzip, chunked\n\n0\n\n`],
    ['a coding that is not the last', `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nTransfer-Encoding: chunked, x\n\n0\n\n`],
    ['space before the colon', `POST / HTTP/1.1\nHost: ${HOST}\nKEY\nContent-Length : 4\n\nabcd`],
    ['two hosts', `GET / HTTP/1.1\nHost: ${HOST}\nHost: queue.lb.test\nKEY\n\n`],
    ['another target than its host', `GET http://queue.lb.test/ HTTP/1.1\nHost: ${HOST}\nKEY\n\n`],
    ['many headers', `GET / HTTP/1.1\nHost: ${HOST}\nKEY\n${'a: b\n'.repeat(600)}\n`],
    ['huge headers', `GET / HTTP/1.1\nHost: ${HOST}\nKEY\na: ${'b'.repeat(70_000)}\n\n`],
  ])('%s: refused', async (_, text) => {
    await refused(text);
  });

  test.each([
    ['a header on two lines', `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-A: b\r\n c\r\nKEY\r\n\r\n`],
    ['bare line feeds', `GET / HTTP/1.1\nHost: ${HOST}\nKEY\n\n`],
  ])('%s: refused', async (_, text) => {
    const caller = await withEcho();
    caller.say(text.replace('KEY', `Authorization: Bearer ${scene.key}`));
    await caller.hears(/^HTTP\/1\.1 4\d\d /);
    expect(scene.link.asked).toEqual([]);
  });

  test('a chunk whose size is none cuts the connection, and the worker hears no end', async () => {
    await open();
    let hasEnded = false;
    await scene.addWorker('w1', (request) => {
      seen.push(request);
      request
        .on('end', () => (hasEnded = true))
        .on('error', () => undefined)
        .resume();
    });
    const caller = scene.caller();
    caller.ask('POST /', { 'Transfer-Encoding': 'chunked' }, '3\r\nabc\r\n');
    await eventually(() => expect(seen).toHaveLength(1));
    caller.say('zz\r\n');
    await caller.ends();
    await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
    expect(hasEnded).toBe(false);
  });

  test('an answer with a length and chunks reaches its caller in chunks alone, or not at all', async () => {
    await open();
    await scene.addWorker('w1', (request) => {
      request.socket.end(
        'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n',
      );
    });
    const caller = scene.caller();
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 (200|502)/);
    expect(caller.heard).not.toMatch(/content-length: 3\r\n/i);
  });
});

describe('time limits', () => {
  test.each([
    ['worker-answer-timeout', 330_001, 600_000],
    ['worker-total-timeout', 5_001, 5_000],
  ])('%s: a marked 504', async (code, ms, executionTimeoutMs) => {
    await open({ endpoint: { executionTimeoutMs } });
    await scene.addWorker('w1', (request) => seen.push(request));
    const caller = scene.caller();
    caller.ask('GET /');
    await eventually(() => expect(seen).toHaveLength(1));
    await scene.manualClock().advance(ms);
    await caller.hears(new RegExp(`^HTTP/1\\.1 504 [^]*x-berth-error: ${code}`));
  });

  test('an answer that stands still is cut', async () => {
    await open();
    await scene.addWorker('w1', (_request, response) => response.write('begun'));
    const caller = scene.caller();
    caller.ask('GET /');
    await caller.hears('begun');
    await scene.manualClock().advance(120_001);
    await caller.ends();
    expect(await scene.metric('berth_router_lb_requests_total{endpoint="ep1",outcome="worker-idle-timeout"}')).toBe(1);
  });
});

test('a caller that closes its half ends its request', async () => {
  await open();
  let isGone = false;
  await scene.addWorker('w1', (request, response) => {
    seen.push(request);
    response.on('close', () => (isGone = true));
  });
  const caller = scene.caller();
  caller.ask('GET /');
  await eventually(() => expect(seen).toHaveLength(1));
  caller.socket.end();
  await caller.ends();
  await eventually(() => expect(isGone).toBe(true));
});
