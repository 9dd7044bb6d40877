import { connect, type Socket } from 'node:net';
import { Body, Controller, Get, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { systemRandom } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Public, RequireScope } from '../src/auth/access.decorator.js';
import { makeApiKey } from '../src/auth/api-key.js';
import { takeBody } from '../src/bodies/body-rooms.js';
import { TrustedProxies } from '../src/callers/trusted-proxies.js';
import { TextField } from '@berth/contracts/http';
import { useEdge } from './edge-bench.js';

const MIB = 1_024 ** 2;
const BODY_MAX_BYTES = 20 * MIB;
const SECOND_MS = 1_000;

class ThingDto {
  @TextField({ maxLength: BODY_MAX_BYTES, description: 'Text.' })
  text!: string;
}

const gate: { open: () => void; opened: Promise<void> } = { open: () => undefined, opened: Promise.resolve() };
const stored: typeof gate = { open: () => undefined, opened: Promise.resolve() };
const shut = (way: typeof gate): void => {
  way.opened = new Promise((resolve) => (way.open = resolve));
};

@Controller('things')
@RequireScope('serverless:write')
class ThingsController {
  @Post()
  create(@Body() { text }: ThingDto) {
    return { length: text.length };
  }

  /** As for a body that is written to a slow store. */
  @Post('stored')
  async store(@Body() { text }: ThingDto) {
    handling = true;
    await gate.opened;
    return { length: text.length };
  }

  /** As for a body that is stored at once, and whose caller is held. */
  @Post('taken')
  async take(@Req() request: FastifyRequest) {
    const { text, done } = takeBody(request);
    handling = true;
    await stored.opened;
    done();
    await gate.opened;
    return { length: text.length };
  }

  @Get()
  list() {
    return {};
  }

  @Get('held')
  async hold() {
    await gate.opened;
    return {};
  }
}

@Controller('documents')
@Public()
class DocumentsController {
  @Get()
  async read() {
    documentsAsked += 1;
    await gate.opened;
    return {};
  }
}

let documentsAsked = 0;
/** A body has come to its handler. */
let handling = false;
const clock = new ManualClock();
const bench = useEdge([ThingsController, DocumentsController], {
  options: {
    clock,
    bodyMaxBytes: () => BODY_MAX_BYTES,
    trustedProxies: new TrustedProxies(['127.0.0.2/32']),
    configure: (fastify) => {
      fastify.get('/plain', () => ({}));
    },
  },
});

interface Talk {
  readonly socket: Socket;
  heard: string;
  isOver: boolean;
}

const talks: Talk[] = [];

afterEach(() => {
  gate.open();
  stored.open();
  for (const { socket } of talks.splice(0)) socket.destroy();
});

const talk = (localAddress?: string): Talk => {
  const options = { port: bench.port, host: '127.0.0.1', ...(localAddress === undefined ? {} : { localAddress }) };
  const opened: Talk = { socket: connect(options), heard: '', isOver: false };
  talks.push(opened);
  opened.socket.on('error', () => undefined).on('close', () => (opened.isOver = true));
  opened.socket.setEncoding('utf8').on('data', (text) => (opened.heard += String(text)));
  return opened;
};

const head = (request: string, headers: Readonly<Record<string, string | number>>): string =>
  [`${request} HTTP/1.1`, 'host: x', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join(
    '\r\n',
  ) + '\r\n\r\n';

const json = (more: Readonly<Record<string, string | number>> = {}): Readonly<Record<string, string | number>> => ({
  'content-type': 'application/json',
  ...more,
});
const withKey = (more: Readonly<Record<string, string | number>> = {}) =>
  json({ authorization: bench.authorization, ...more });

const metric = async (name: string): Promise<number> => {
  const line = (await bench.metrics.text()).split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
};

const arrived = (bytes: number): Promise<void> =>
  eventually(async () => {
    expect(await metric('berth_http_bodies_bytes')).toBe(bytes);
  });

const expectStatus = ({ heard }: Talk, status: number): void => {
  expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
};

const heardStatus = (of: Talk, status: number): Promise<void> =>
  eventually(() => {
    expectStatus(of, status);
  });

const isOver = (of: Talk): Promise<void> =>
  eventually(() => {
    expect(of.isOver).toBe(true);
  });

describe('a body that does not come', () => {
  test.each([
    ['announced', { 'content-length': BODY_MAX_BYTES }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('(%s) is not waited for without a good key', async (_, announced) => {
    for (const key of [{}, { authorization: `Bearer ${makeApiKey(systemRandom).key}` }]) {
      const stranger = talk();
      stranger.socket.write(head('POST /things', json({ ...key, ...announced })));
      await heardStatus(stranger, 401);
    }
  });

  test.each([
    ['an unknown path', 'POST /nothing', {}, 404],
    ['another verb', 'PUT /things', {}, 405],
    ['another type', 'POST /things', { 'content-type': 'text/plain' }, 415],
    ['a packed body', 'POST /things', { 'content-encoding': 'gzip' }, 415],
    ['a body that is too large', 'POST /things', { 'content-length': BODY_MAX_BYTES + 1 }, 413],
  ])('is refused for %s before anybody asks for a key', async (...row) => {
    const [, request, headers, status] = row;
    const stranger = talk();
    stranger.socket.write(head(request, json({ 'content-length': 10, ...headers })));
    await heardStatus(stranger, status);
  });

  test('takes room as it comes, and is 408 when it comes more slowly than 16 KiB a second', async () => {
    const slow = talk();
    slow.socket.write(head('POST /things', withKey({ 'content-length': BODY_MAX_BYTES })));
    let sent = 0;
    for (let second = 0; second < 11; second += 1) {
      slow.socket.write('{');
      sent += 1;
      await arrived(sent);
      expect(slow.heard).toBe('');
      await clock.advance(SECOND_MS);
    }
    await heardStatus(slow, 408);
    expect(slow.heard).toContain('/problems/request-timeout');
    await isOver(slow);
    await arrived(0);
  });

  test('is 408 after 30 s of silence, however fast it came before', async () => {
    const stalled = talk();
    stalled.socket.write(head('POST /things', withKey({ 'content-length': BODY_MAX_BYTES })));
    stalled.socket.write('x'.repeat(10 * MIB));
    await arrived(10 * MIB);
    await clock.advance(30 * SECOND_MS);
    expect(stalled.heard).toBe('');
    await clock.advance(2 * SECOND_MS);
    await heardStatus(stalled, 408);
    await arrived(0);
  });

  test('is whole over a thin line: 20 MiB at 128 kbit/s', async () => {
    const thin = talk();
    const text = JSON.stringify({ text: 'x'.repeat(BODY_MAX_BYTES - '{"text":""}'.length) });
    thin.socket.write(head('POST /things', withKey({ 'content-length': text.length })));
    const step = 16 * 1_024 * 20;
    for (let at = 0; at + step < text.length; at += step) {
      thin.socket.write(text.slice(at, at + step));
      await arrived(at + step);
      await clock.advance(20 * SECOND_MS);
    }
    expect(thin.heard).toBe('');
    thin.socket.write(text.slice(text.length - (text.length % step || step)));
    await heardStatus(thin, 201);
  });

  test('does not outlive its key', async () => {
    const key = bench.newKey(['serverless:write']);
    const late = talk();
    late.socket.write(head('POST /things', json({ authorization: `Bearer ${key}`, 'content-length': 12 })));
    late.socket.write('{"text":');
    await arrived(8);
    bench.revokeKey(key);
    await clock.advance(2 * SECOND_MS);
    late.socket.write('"a"}');
    await heardStatus(late, 401);
  });
});

describe('a body in chunks of one byte', () => {
  test('1 MiB of it is kept in a few blocks of little more than 1 MiB, not in a million pieces', async () => {
    const join = jest.spyOn(Buffer, 'concat');
    const text = JSON.stringify({ text: 'x'.repeat(MIB - '{"text":""}'.length) });
    const crumbs = talk();
    crumbs.socket.write(head('POST /things', withKey({ 'transfer-encoding': 'chunked' })));
    crumbs.socket.write([...text].map((character) => `1\r\n${character}\r\n`).join(''));
    await arrived(MIB);
    const roomBytes = await metric('berth_http_bodies_room_bytes');
    expect(roomBytes).toBeGreaterThanOrEqual(MIB);
    expect(roomBytes).toBeLessThanOrEqual(MIB + 64 * 1_024);
    crumbs.socket.write('0\r\n\r\n');
    await heardStatus(crumbs, 201);
    const kept = join.mock.calls.map(([pieces]) => pieces.length);
    join.mockRestore();
    expect(Math.max(...kept)).toBeLessThanOrEqual(24);
  });
});

describe('the room of a body', () => {
  const body = JSON.stringify({ text: 'x'.repeat(MIB) });
  const send = (path: string): Talk => {
    const sender = talk();
    sender.socket.write(head(`POST ${path}`, withKey({ 'content-length': body.length })) + body);
    return sender;
  };
  const room = (matcher: (bytes: number) => void): Promise<void> =>
    eventually(async () => {
      expect(await metric('berth_http_bodies_bytes')).toBe(0);
      matcher(await metric('berth_http_bodies_room_bytes'));
    });
  const isTaken = (): Promise<void> => room((bytes) => expect(bytes).toBeGreaterThanOrEqual(body.length));
  const isFree = (): Promise<void> => room((bytes) => expect(bytes).toBe(0));

  /** All of it has come, and its handler waits. */
  const hasCome = async (): Promise<void> => {
    await eventually(() => expect(handling).toBe(true));
  };

  beforeEach(() => {
    handling = false;
    shut(gate);
    shut(stored);
  });

  test('is taken while the store is slow, and free once the request is answered', async () => {
    const sender = send('/things/stored');
    await hasCome();
    await isTaken();
    gate.open();
    await heardStatus(sender, 201);
    await isFree();
  });

  test('is free when its sender goes, unless its handler has taken it: then when that has let go of it', async () => {
    const plain = send('/things/stored');
    await hasCome();
    await isTaken();
    plain.socket.destroy();
    await isFree();
    handling = false;
    const other = send('/things/taken');
    await hasCome();
    other.socket.destroy();
    await isOver(other);
    await isTaken();
    stored.open();
    await isFree();
  });

  test('is free as soon as its handler has let go of it, however long the answer takes', async () => {
    const held = send('/things/taken');
    await hasCome();
    await isTaken();
    stored.open();
    await isFree();
    expect(held.heard).toBe('');
    gate.open();
    await heardStatus(held, 201);
  });

  test('is free when it is no text, or its handler never comes to see it', async () => {
    const broken = talk();
    broken.socket.write(head('POST /things', withKey({ 'content-length': 2 })));
    broken.socket.write(Buffer.from([0xff, 0xff]));
    await heardStatus(broken, 400);
    await isFree();
    gate.open();
    const unfit = talk();
    unfit.socket.write(head('POST /things', withKey({ 'content-length': 2 })) + '[]');
    await heardStatus(unfit, 400);
    await isFree();
  });
});

describe('a refused body', () => {
  test('of a stranger is thrown away up to 1 MiB, and then the connection ends', async () => {
    const stranger = talk();
    stranger.socket.write(head('POST /things', json({ 'content-length': BODY_MAX_BYTES })));
    await heardStatus(stranger, 401);
    stranger.socket.write('x'.repeat(2 * MIB));
    await isOver(stranger);
  });

  test('of a stranger is waited for 5 s, and then the connection ends', async () => {
    const stranger = talk();
    stranger.socket.write(head('POST /things', json({ 'content-length': 10 })));
    await heardStatus(stranger, 401);
    await eventually(() => {
      expect(clock.waiting).toBeGreaterThan(0);
    });
    await clock.advance(4 * SECOND_MS);
    expect(stranger.isOver).toBe(false);
    await clock.advance(2 * SECOND_MS);
    await isOver(stranger);
  });

  test('whose end comes in time leaves the connection to the next request', async () => {
    const stranger = talk();
    stranger.socket.write(head('POST /things', json({ 'content-length': 10 })));
    await heardStatus(stranger, 401);
    stranger.socket.write(`0123456789${head('GET /things', withKey())}`);
    await eventually(() => {
      expect(stranger.heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
    });
    expect(clock.waiting).toBe(0);
  });
});

describe('a sender that asks before it sends', () => {
  const asking = (more: Readonly<Record<string, string | number>>): Talk => {
    const asker = talk();
    asker.socket.write(head('POST /things', json({ expect: '100-continue', 'content-length': 12, ...more })));
    return asker;
  };

  test('is not told to go on without a good key, and the connection ends', async () => {
    const stranger = asking({});
    await isOver(stranger);
    expectStatus(stranger, 401);
    expect(stranger.heard).not.toContain('100 Continue');
  });

  test('is told to go on when its body is wanted', async () => {
    const caller = asking({ authorization: bench.authorization });
    await heardStatus(caller, 100);
    caller.socket.write('{"text":"a"}');
    await eventually(() => {
      expect(caller.heard).toContain('HTTP/1.1 201 Created');
    });
  });
});

describe('a connection', () => {
  test('that sends 65 requests ahead of their answers is closed, and no other', async () => {
    gate.opened = new Promise((resolve) => {
      gate.open = resolve;
    });
    const [modest, flooding] = [talk(), talk()];
    modest.socket.write(head('GET /things/held', withKey()).repeat(64));
    flooding.socket.write(head('GET /things/held', withKey()).repeat(65));
    await isOver(flooding);
    expect(flooding.heard).toBe('');
    expect(modest.isOver).toBe(false);
    gate.open();
    await eventually(() => {
      expect(modest.heard.match(/HTTP\/1\.1 200/g)).toHaveLength(64);
    });
  });

  test('that has shown no good key has 4 of its requests looked at, and the others when those are answered', async () => {
    gate.opened = new Promise((resolve) => {
      gate.open = resolve;
    });
    documentsAsked = 0;
    const [stranger, gone] = [talk(), talk()];
    stranger.socket.write(head('GET /documents', {}).repeat(64));
    await eventually(() => {
      expect(documentsAsked).toBe(4);
    });
    gone.socket.write(head('GET /documents', {}).repeat(64));
    await eventually(() => {
      expect(documentsAsked).toBe(8);
    });
    gone.socket.destroy();
    gate.open();
    await eventually(() => {
      expect(stranger.heard.match(/HTTP\/1\.1 200/g)).toHaveLength(64);
    });
    expect(documentsAsked).toBe(64 + 4);
  });

  test('that does not finish its headers is closed after 10 s', async () => {
    const slow = talk();
    slow.socket.write('GET /things HTTP/1.1\r\nhost: x\r\nx-slow: ');
    await eventually(() => expectStatus(slow, 408), { deadlineMs: 90 * SECOND_MS });
    await isOver(slow);
  });
});

describe('callers without a good key', () => {
  /** More than the bucket of one network holds. */
  const MANY = 1_001;

  const ask = (headers: Readonly<Record<string, string>>, key: string | null = null) =>
    bench.call('GET /things', { key, headers });

  const askOften = async (times: number, next: () => Promise<number>): Promise<ReadonlyMap<number, number>> => {
    const counts = new Map<number, number>();
    for (let n = 0; n < times; n += 1) {
      const status = await next();
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return counts;
  };

  test('are limited by their network, which a good key of the same network never feels', async () => {
    const counts = await askOften(MANY, async () => (await ask({})).status);
    expect(counts.get(429)).toBeGreaterThan(0);
    const refused = await ask({ 'x-forwarded-for': '198.51.100.1' });
    expect(refused).toMatchObject({ status: 429, body: { title: 'Rate limit exceeded' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    const key = bench.authorization.slice('Bearer '.length);
    expect((await ask({}, key)).status).toBe(200);
    await clock.advance(SECOND_MS);
    expect((await ask({})).status).toBe(401);
  });

  test('are limited at what is open to everybody too, which a good key of the same network never feels', async () => {
    await clock.advance(60 * SECOND_MS);
    expect((await bench.call('GET /things')).status).toBe(200);
    const askDocument = async (key: string | null): Promise<number> =>
      (await bench.call('GET /documents', { key })).status;
    const counts = await askOften(MANY, () => askDocument(null));
    expect([...counts.keys()].sort()).toEqual([200, 429]);
    expect((await bench.call('GET /plain', { key: null })).status).toBe(429);
    const key = bench.authorization.slice('Bearer '.length);
    expect(await askDocument(key)).toBe(200);
    await clock.advance(SECOND_MS);
    expect(await askDocument(null)).toBe(200);
  });

  test('of other networks behind a trusted proxy have limits of their own', async () => {
    const askThrough = async (forwarded: string): Promise<number> => {
      const through = talk('127.0.0.2');
      through.socket.write(head('GET /things', { 'x-forwarded-for': forwarded, connection: 'close' }));
      await isOver(through);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(through.heard)?.[1]);
    };
    const counts = await askOften(MANY + 50, () => askThrough('203.0.113.9, 2001:db8:0:1::7'));
    expect(counts.get(429)).toBeGreaterThan(0);
    expect(await askThrough('2001:db8:0:1:ffff::1')).toBe(429);
    expect(await askThrough('2001:db8:0:2::7')).toBe(401);
    expect(await askThrough('nonsense')).toBe(401);
  });
});
