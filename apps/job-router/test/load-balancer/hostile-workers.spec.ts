import type { Socket } from 'node:net';
import { eventually } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { HOST, type RawCaller, type SceneOptions } from './door-scene.js';
import { RawScene, lines, says } from './raw-scene.js';
import { onHead } from './raw-worker.js';

const OK = 'HTTP/1.1 200 OK|Content-Length: 2||ok';
const CHUNKED = 'HTTP/1.1 200 OK|Transfer-Encoding: chunked';

const raw = new RawScene();
afterEach(() => raw.close());
const open = (act: (socket: Socket) => void, options: SceneOptions = {}): Promise<RawCaller> =>
  raw.open(onHead(act), { slotsPerWorker: 2, ...options });

/** The slot is free, and the connection of the caller is good for a next request, where it is open. */
const isFree = (): Promise<void> => eventually(() => expect(raw.scene.link.inFlight.get('w1')).toBe(0));

describe('an answer that two readers could take for two things', () => {
  test.each([
    ['a length and chunks', 'HTTP/1.1 200 OK|Content-Length: 3|Transfer-Encoding: chunked||4|abcd|0||'],
    ['chunks and a length', `${CHUNKED}|Content-Length: 3||4|abcd|0||`],
    ['two lengths', 'HTTP/1.1 200 OK|Content-Length: 3|Content-Length: 4||abcd'],
    ['two equal lengths', 'HTTP/1.1 200 OK|Content-Length: 3|Content-Length: 3||abc'],
    ['a length that is none', 'HTTP/1.1 200 OK|Content-Length: 3x||abc'],
    ['a length beyond all numbers', 'HTTP/1.1 200 OK|Content-Length: 99999999999999999999||abc'],
    ['a coding that has no name behind us', 'HTTP/1.1 200 OK|Transfer-Encoding: gzip, chunked||4|abcd|0||'],
    ['no coding that we know', 'HTTP/1.1 200 OK|Transfer-Encoding: xchunked||abcd'],
    ['chunks said twice', `${CHUNKED}|Transfer-Encoding: chunked||4|abcd|0||`],
    ['a header on two lines', 'HTTP/1.1 200 OK|X-A: b| c|Content-Length: 2||ok'],
    ['bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['a NUL in a value', 'HTTP/1.1 200 OK|X-A: b\0c|Content-Length: 2||ok'],
    ['a CR in a value', 'HTTP/1.1 200 OK|X-A: b\rX-B: c|Content-Length: 2||ok'],
    ['a space before a colon', 'HTTP/1.1 200 OK|Content-Length : 2||ok'],
    ['control characters in its reason', 'HTTP/1.1 200 O\x01K|Content-Length: 2||ok'],
    ['no status', 'HTTP/1.1 OK|Content-Length: 2||ok'],
    ['a status that is none', 'HTTP/1.1 000 OK|Content-Length: 2||ok'],
    ['a status that is too long', 'HTTP/1.1 2000 OK|Content-Length: 2||ok'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6|'],
    ['more headers than are read', `HTTP/1.1 200 OK|${'a: b|'.repeat(2_000)}Content-Length: 2||ok`],
    ['10 MB of headers', `HTTP/1.1 200 OK|${`X-A: ${'b'.repeat(1_000)}|`.repeat(10_000)}|ok`],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols|Connection: Upgrade|Upgrade: websocket||abc'],
    ['another protocol without its name', 'HTTP/1.1 101 Switching Protocols||abc'],
  ])('%s: is a marked 502, and its connection goes on', async (_, text) => {
    const caller = await open(says(text));
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 502 Bad Gateway\r\n[^]*x-berth-error: worker-answer-invalid[^]*\}$/);
    await isFree();
    caller.ask('GET /', { Host: 'queue.lb.test' });
    await caller.hears(/\}HTTP\/1\.1 400 [^]*\}$/);
  });

  test.each(['h2c', ''])('to a wish for a WebSocket, a switch to %p: is a marked 502', async (upgrade) => {
    const caller = await open(says(`HTTP/1.1 101 Switching|Connection: Upgrade|Upgrade: ${upgrade}||abc`));
    caller.ask('GET /', { Connection: 'Upgrade', Upgrade: 'websocket' });
    await caller.hears(/^HTTP\/1\.1 502 [^]*x-berth-error: worker-answer-invalid/);
    await isFree();
  });

  test('a switch to a WebSocket says nothing of a body, and no word of ours but ours', async () => {
    const caller = await open((socket) =>
      socket.write(
        lines(
          'HTTP/1.1 101 S|Connection: Upgrade, X-Hop|Upgrade: websocket|X-Hop: 1|Content-Length: 5|X-Berth-Error: x|' +
            'X-Runpod-Worker-Id: other|Sec-WebSocket-Accept: a||hi',
        ),
      ),
    );
    caller.ask('GET /', { Connection: 'Upgrade', Upgrade: 'websocket' });
    await caller.hears(/^HTTP\/1\.1 101 [^]*Sec-WebSocket-Accept: a\r\n[^]*X-Runpod-Worker-Id: w1\r\n[^]*\r\n\r\nhi$/);
    expect(caller.heard).not.toMatch(/x-hop|content-length|berth|other/i);
  });
});

describe('an answer that is not whole', () => {
  test.each([
    ['of a length', 'HTTP/1.1 200 OK|Content-Length: 10||some'],
    ['in the middle of a chunk', `${CHUNKED}||9|some`],
    ['between chunks', `${CHUNKED}||4|some|`],
    ['in the middle of its last chunk', `${CHUNKED}||4|some|0|`],
    ['in the middle of its trailers', `${CHUNKED}||4|some|0|X-T: a|`],
    ['in a chunk that is none', `${CHUNKED}||4|some|zz|`],
    ['in a chunk that is longer than it says', `${CHUNKED}||4|somemore|0||`],
  ])('%s: is not whole for its caller either', async (_, text) => {
    const caller = await open(says(text));
    caller.ask('GET /');
    await caller.ends();
    expect(caller.heard).toMatch(/^HTTP\/1\.1 200 /);
    expect(caller.heard).not.toMatch(/\r\n0\r\n/);
    await isFree();
  });

  test.each(['1.0', '1.1'])(
    'and ends with its connection: a reset is no end for a caller with HTTP/%s',
    async (version) => {
      const caller = await open((socket) => {
        socket.write(lines('HTTP/1.1 200 OK||some'), () => socket.resetAndDestroy());
      });
      caller.say(lines(`GET / HTTP/${version}|Host: ${HOST}|Authorization: Bearer ${raw.scene.key}||`));
      await caller.ends();
      expect(caller.heard).not.toMatch(/\r\n0\r\n/);
      expect(caller.isReset).toBe(version === '1.0');
    },
  );

  test.each([
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 200 OK|X-A: b'],
    ['a word before its answer', 'HTTP/1.1 100 Continue||'],
  ])('but %s: is a marked 502', async (_, text) => {
    const caller = await open(says(text));
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 502 [^]*x-berth-error: worker-connection-lost/);
    await isFree();
  });
});

describe('what is too much', () => {
  test('behind an answer of a length comes into no other answer', async () => {
    const caller = await open(says(`${OK}HTTP/1.1 200 OK|Content-Length: 4||evil`));
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 200 [^]*ok/);
    await isFree();
    const other = raw.scene.caller();
    other.ask('GET /');
    await other.hears(/^HTTP\/1\.1 200 [^]*ok/);
    expect(caller.heard + other.heard).not.toContain('evil');
  });

  test.each([
    ['204 No Content', /^HTTP\/1\.1 204 (?![^]*content-length)[^]*\r\n\r\n/i],
    ['304 Not Modified', /^HTTP\/1\.1 304 [^]*\r\n\r\n/],
  ])('behind %s is no body', async (status, head) => {
    const caller = await open(says(`HTTP/1.1 ${status}|Content-Length: 4||evil`));
    caller.ask('GET /');
    await caller.hears(head);
    await isFree();
    expect(caller.heard).not.toContain('evil');
  });

  test('behind the answer to HEAD is no body', async () => {
    const caller = await open(says('HTTP/1.1 200 OK|Content-Length: 4||evil'));
    caller.ask('HEAD /');
    await caller.hears(/^HTTP\/1\.1 200 [^]*Content-Length: 4\r\n[^]*\r\n\r\n/);
    await isFree();
    expect(caller.heard).not.toContain('evil');
  });

  test.each([
    ['hints', '103 Early Hints|Link: </a>'],
    ['wishes for a body', '100 Continue'],
  ])('%s before an answer, without end, are the end of it', async (_, word) => {
    const words = lines(`HTTP/1.1 ${word}||`).repeat(1_000);
    const caller = await open((socket) => {
      const more = (): void => {
        if (!socket.destroyed) socket.write(words, more);
      };
      more();
    });
    caller.ask('GET /');
    await caller.hears(/HTTP\/1\.1 502 [^]*x-berth-error: worker-answer-invalid/);
    await isFree();
  });

  test('headers without end are the end of an answer', async () => {
    const caller = await open((socket) => {
      socket.write(lines('HTTP/1.1 200 OK|'));
      const more = (): void => {
        if (!socket.destroyed) socket.write(lines(`X-A: ${'b'.repeat(100)}|`), more);
      };
      more();
    });
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 502 [^]*x-berth-error: worker-answer-invalid/);
    await isFree();
  });
});

describe('words that are ours', () => {
  test('come from no worker, and cookies each for itself', async () => {
    const caller = await open(
      says(
        'HTTP/1.1 200 OK|Connection: X-Hop, X-Runpod-Worker-Id, Content-Length, close|X-Hop: 1|Keep-Alive: timeout=1|' +
          'Proxy-Authenticate: Basic|Upgrade: h2c|X-Berth-Error: no|X-Runpod-Worker-Id: other|Set-Cookie: a=1|' +
          'Set-Cookie: b=2; Path=/|Content-Length: 2||ok',
      ),
    );
    caller.ask('GET /');
    await caller.hears(/^HTTP\/1\.1 200 OK\r\n[^]*Set-Cookie: a=1\r\nSet-Cookie: b=2; Path=\/\r\n[^]*\r\n\r\nok$/);
    expect(caller.heard.match(/X-Runpod-Worker-Id: /g)).toHaveLength(1);
    expect(caller.heard).toContain('X-Runpod-Worker-Id: w1\r\n');
    expect(caller.heard).not.toMatch(/berth|x-hop|proxy-|upgrade|h2c|other|timeout=1\r/i);
    expect(caller.heard).toMatch(/connection: keep-alive/i);
  });

  test('come neither before an answer nor behind it', async () => {
    const ours = 'X-Berth-Error: x|X-Runpod-Worker-Id: other|Connection: X-Hop';
    const caller = await open(
      says(
        `HTTP/1.1 103 Early Hints|Link: </a>|${ours}|X-Hop: 1|Content-Length: 5||` +
          `${CHUNKED}|Trailer: X-T||2|ok|0|X-T: 1|${ours}|Set-Cookie: a=1||`,
      ),
    );
    caller.ask('GET /', { TE: 'trailers' });
    await caller.hears(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    await caller.hears(/\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n$/);
    expect(caller.heard).not.toMatch(/berth|other|x-hop|content-length|a=1/i);
  });
});

describe('time', () => {
  test('an answer that drips goes on, until the time of its endpoint is over', async () => {
    const caller = await open(
      (socket) => {
        socket.write(lines(`${CHUNKED}||1|a|`));
      },
      { endpoint: { executionTimeoutMs: 300_000 } },
    );
    caller.ask('GET /');
    for (const letter of ['b', 'c']) {
      await caller.hears(/1\r\n[abc]\r\n$/);
      await raw.scene.manualClock().advance(119_999);
      raw.worker.sockets[0]?.write(lines(`1|${letter}|`));
      await caller.hears(lines(`1|${letter}|`));
    }
    await raw.scene.manualClock().advance(60_003);
    await caller.ends();
    expect(caller.heard).not.toMatch(/\r\n0\r\n/);
    expect(
      await raw.scene.metric('berth_router_lb_requests_total{endpoint="ep1",outcome="worker-total-timeout"}'),
    ).toBe(1);
    await isFree();
  });

  test('an answer given in the middle of a body is whole, and the worker gets no more of it', async () => {
    const caller = await open(says(OK));
    caller.ask('POST /', { 'Content-Length': '100000' }, 'begin');
    await caller.hears(/^HTTP\/1\.1 200 [^]*ok$/);
    await isFree();
    caller.say('x'.repeat(100_000 - 'begin'.length));
    caller.ask('GET /next');
    await eventually(() => expect(raw.worker.heard).toHaveLength(2));
    await caller.hears(/^HTTP\/1\.1 200 [^]*okHTTP\/1\.1 200 [^]*ok$/);
    expect(raw.worker.heard[0]).not.toContain('xx');
  });
});
