import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Body, Controller, Get, Post } from '@nestjs/common';
import { ManualClock, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Public } from '../src/auth/access.decorator.js';
import type { Dispatch, DispatchedConnection } from '../src/dispatch/dispatch.js';
import { EdgeBench } from './edge-bench.js';

const BODY_MAX_BYTES = 16;
const LIMIT_MS = 10_000;
const ACCEPT_MS = 2_000;
/** More than one turn of the event loop accepts. */
const BACKLOG = 50;

@Controller('things')
@Public()
class ThingsController {
  @Get()
  list() {
    return { by: 'the edge' };
  }

  @Post()
  create(@Body() thing: object) {
    return { thing };
  }
}

interface Taken {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: DispatchedConnection;
}

interface Upgraded {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Takes what is for `mine`, upgrades to `echo` alone, and leaves the rest to the test. */
class Taker implements Dispatch {
  readonly taken: Taken[] = [];
  readonly upgraded: Upgraded[] = [];

  takes({ headers }: IncomingMessage): boolean {
    return headers.host === 'mine';
  }

  takesUpgrade(request: IncomingMessage): boolean {
    return this.takes(request) && request.headers.upgrade === 'echo';
  }

  request(request: IncomingMessage, response: ServerResponse, connection: DispatchedConnection): void {
    this.taken.push({ request, response, connection });
  }

  upgrade(request: IncomingMessage, socket: Socket, { head }: { readonly head: Buffer }): void {
    this.upgraded.push({ request, socket, head });
  }

  /** The next one that comes. */
  async next(count = 1): Promise<Taken> {
    await eventually(() => expect(this.taken).toHaveLength(count));
    return this.taken[count - 1]!;
  }

  async nextUpgrade(): Promise<Upgraded> {
    await eventually(() => expect(this.upgraded).toHaveLength(1));
    return this.upgraded[0]!;
  }
}

/** A caller who says bytes and keeps what comes. */
class RawCaller {
  readonly socket: Socket;
  heard = '';
  isClosed = false;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => (this.heard += chunk.toString('latin1')));
    this.socket.on('close', () => (this.isClosed = true)).on('error', () => undefined);
  }

  say(text: string): void {
    this.socket.write(text, 'latin1');
  }

  async hears(text: string | RegExp): Promise<void> {
    await eventually(() =>
      typeof text === 'string' ? expect(this.heard).toContain(text) : expect(this.heard).toMatch(text),
    );
  }

  async closes(): Promise<void> {
    await eventually(() => expect(this.isClosed).toBe(true));
  }
}

const head = (line: string, host: string, headers: Readonly<Record<string, string>> = {}): string =>
  [
    `${line} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const LONG = 'x'.repeat(2 * BODY_MAX_BYTES);
const JSON_TYPE = { 'content-type': 'application/json' };
const TO_ECHO = { connection: 'upgrade', upgrade: 'echo' };

let taker: Taker;
let clock: ManualClock;
let bench: EdgeBench;
let callers: RawCaller[];
beforeEach(async () => {
  [taker, clock, callers] = [new Taker(), new ManualClock(), []];
  bench = new EdgeBench([ThingsController], {
    options: { dispatch: taker, clock, bodyMaxBytes: () => BODY_MAX_BYTES },
  });
  await bench.open();
});
afterEach(async () => {
  for (const { socket } of callers) socket.destroy();
  await bench.close();
});

const newCaller = (): RawCaller => {
  const caller = new RawCaller(bench.port);
  callers.push(caller);
  return caller;
};

describe('a request that is taken', () => {
  test('is streamed both ways, whatever its body is, and nobody has read of it before', async () => {
    const caller = newCaller();
    caller.say(head('PATCH /any%zz/../path?q', 'mine', { 'transfer-encoding': 'chunked', 'content-type': 'no/type' }));
    const { request, response } = await taker.next();
    expect([request.method, request.url, request.readableDidRead]).toEqual(['PATCH', '/any%zz/../path?q', false]);
    request.on('data', (each: Buffer) => response.write(each.toString().toUpperCase()));
    request.on('end', () => response.end('end'));
    caller.say(chunk('first'));
    await caller.hears('FIRST');
    caller.say(chunk(LONG));
    await caller.hears(LONG.toUpperCase());
    expect(caller.heard).not.toContain('end');
    caller.say('0\r\n\r\n');
    await caller.hears('end');
    expect(caller.heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(caller.heard).not.toContain('x-request-id');
  });

  test('comes between others on its connection, and those are answered as always', async () => {
    const caller = newCaller();
    caller.say(head('GET /things', 'other'));
    await caller.hears('{"by":"the edge"}');
    caller.say(head('GET /things', 'mine'));
    const { response } = await taker.next();
    response.end('by the taker');
    await caller.hears('by the taker');
    caller.say(head('GET /nothing', 'other'));
    await caller.hears('404');
    expect(caller.isClosed).toBe(false);
  });

  test('is cut off, and nothing written into its answer, where its body is no HTTP', async () => {
    const caller = newCaller();
    caller.say(head('POST /', 'mine', { 'transfer-encoding': 'chunked' }));
    const { request, response } = await taker.next();
    let broke = false;
    request.on('error', () => (broke = true)).resume();
    response.write('begun');
    await caller.hears('begun');
    caller.say('no chunk\r\n');
    await caller.closes();
    expect(caller.heard).not.toContain('400');
    await eventually(() => expect(broke).toBe(true));
  });

  test.each(['no chunk\r\n', '2\r\nabc\r\n', 'fffffffffffffffff\r\n'])(
    'whose body breaks the rules of chunks with %j is told so, where nothing has been said, and never ends',
    async (broken) => {
      const caller = newCaller();
      caller.say(head('POST /', 'mine', { 'transfer-encoding': 'chunked' }));
      const { request, response } = await taker.next();
      const events: string[] = [];
      request.on('end', () => events.push('end')).on('error', () => events.push('error'));
      response.on('close', () => events.push('gone'));
      request.resume();
      caller.say(broken);
      await caller.closes();
      expect(caller.heard).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*\r\nconnection: close\r\n[^]*malformed-request/);
      await eventually(() => expect(events).toEqual(expect.arrayContaining(['error', 'gone'])));
      expect(events).not.toContain('end');
    },
  );

  test.each([
    ['behind another one', head('GET /first', 'mine'), ''],
    ['in front of bytes that are no request', '', 'no request\r\n\r\n'],
  ])('is cut off without a word %s', async (_, before, behind) => {
    const caller = newCaller();
    const last = behind === '' ? head('POST /', 'mine', { 'transfer-encoding': 'chunked' }) : head('GET /', 'mine');
    caller.say(before + last);
    await taker.next(before === '' ? 1 : 2);
    caller.say(behind === '' ? 'no chunk\r\n' : behind);
    await caller.closes();
    expect(caller.heard).toBe('');
  });

  test('counts as under way: of those sent ahead without a key few begin, and with one all up to the bound', async () => {
    const caller = newCaller();
    caller.say(head('GET /', 'mine', { authorization: bench.authorization }).repeat(6));
    const { connection } = await taker.next(4);
    caller.say(head('GET /things', 'other'));
    expect(taker.taken).toHaveLength(4);
    await connection.admit();
    await taker.next(6);
    for (const { response } of taker.taken) response.end('taken;');
    await caller.hears('{"by":"the edge"}');
    expect(caller.heard.match(/taken;/g)).toHaveLength(6);
    caller.say(head('GET /', 'mine').repeat(65));
    await caller.closes();
  });
});

describe('a caller who asks before they send', () => {
  const asking = { ...JSON_TYPE, expect: '100-continue', 'content-length': '2' };

  test('is told nothing by the edge where the request is taken', async () => {
    const caller = newCaller();
    caller.say(head('POST /things', 'mine', asking));
    const { request, response } = await taker.next();
    expect(request.headers.expect).toBe('100-continue');
    request.on('data', (body: Buffer) => response.end(`${body.toString()} came`));
    expect(caller.heard).toBe('');
    response.writeContinue();
    await caller.hears('100 Continue');
    caller.say('{}');
    await caller.hears('{} came');
    expect(caller.heard.match(/HTTP\/1\.1/g)).toHaveLength(2);
  });

  test('is refused without a word before by who takes it', async () => {
    const caller = newCaller();
    caller.say(head('POST /things', 'mine', asking));
    const { response } = await taker.next();
    response.writeHead(401).end();
    await caller.hears('401');
    expect(caller.heard).toMatch(/^HTTP\/1\.1 401/);
  });

  test('is told to go on as always where it is not taken', async () => {
    const caller = newCaller();
    caller.say(head('POST /things', 'other', asking));
    await caller.hears('HTTP/1.1 100 Continue\r\n\r\n');
    caller.say('{}');
    await caller.hears('201 Created');
  });
});

describe('a tunnel to somewhere else', () => {
  const CONNECT = head('CONNECT mine:80', 'mine', { authorization: 'Bearer x' });

  test('is refused, and its connection ends', async () => {
    const caller = newCaller();
    caller.say(head('GET /things', 'other'));
    await caller.hears('{"by":"the edge"}');
    caller.say(CONNECT);
    await caller.hears(/HTTP\/1\.1 405 Method Not Allowed\r\n[^]*\r\nconnection: close\r\n[^]*method-not-allowed/);
    await caller.closes();
    expect([taker.taken, taker.upgraded]).toEqual([[], []]);
  });

  test.each(['mine', 'other'])('is cut off without a word where an answer to %s may be under way', async (host) => {
    const caller = newCaller();
    caller.say(head('GET /things', 'mine') + head('GET /things', host) + CONNECT);
    await caller.closes();
    expect(caller.heard).not.toContain('405');
  });
});

describe('an upgrade', () => {
  test('that is taken is a socket with what came behind its head', async () => {
    const caller = newCaller();
    caller.say(`${head('GET /socket', 'mine', TO_ECHO)}early`);
    const upgraded = await taker.nextUpgrade();
    expect([upgraded.request.url, upgraded.head.toString()]).toEqual(['/socket', 'early']);
    upgraded.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n');
    upgraded.socket.pipe(upgraded.socket);
    caller.say('late');
    await caller.hears('\r\n\r\nlate');
    caller.socket.resetAndDestroy();
    await eventually(() => expect(upgraded.socket.destroyed).toBe(true));
  });

  test.each([
    ['nobody', 'other', TO_ECHO],
    ['nobody, to HTTP/2,', 'other', { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': '' }],
  ])('that %s takes is answered as a request, and the next one too', async (_, host, headers) => {
    const caller = newCaller();
    caller.say(head('GET /things', host, headers));
    await caller.hears('{"by":"the edge"}');
    caller.say(head('GET /nothing', host, headers));
    await caller.hears('404');
    expect([taker.taken, taker.upgraded]).toEqual([[], []]);
  });

  test('that is not taken may be of a request that is', async () => {
    const caller = newCaller();
    caller.say(head('GET /', 'mine', { ...TO_ECHO, upgrade: 'h2c' }));
    const { response } = await taker.next();
    response.end('as a request');
    await caller.hears('as a request');
  });
});

describe('a taker that throws', () => {
  const thrown = (): never => {
    throw new Error('a mistake of the taker');
  };

  test.each(['takes', 'takesUpgrade'] as const)('when it is asked by %s has the request refused', async (question) => {
    taker[question] = thrown;
    const [caller, other] = [newCaller(), newCaller()];
    caller.say(head('GET /things', 'other', TO_ECHO));
    await caller.hears('HTTP/1.1 500 Internal Server Error');
    await caller.closes();
    expect([caller.heard.includes('the edge'), taker.taken, taker.upgraded]).toEqual([false, [], []]);
    taker[question] = () => false;
    other.say(head('GET /things', 'other'));
    await other.hears('{"by":"the edge"}');
  });

  test.each([
    ['request', {}],
    ['upgrade', TO_ECHO],
  ] as const)('when it is given a %s has its connection cut', async (part, headers) => {
    taker[part] = thrown;
    const [caller, other] = [newCaller(), newCaller()];
    caller.say(head('GET /', 'mine', headers));
    await caller.closes();
    expect(caller.heard).toBe('');
    other.say(head('GET /things', 'other'));
    await other.hears('{"by":"the edge"}');
  });
});

describe('draining', () => {
  /** True once it has ended. */
  const drain = (): { isOver: boolean; readonly over: Promise<void> } => {
    const draining = { isOver: false, over: bench.close(LIMIT_MS).then(() => void (draining.isOver = true)) };
    return draining;
  };

  test('waits for a request that is taken, and ends with it', async () => {
    const [caller, idle] = [newCaller(), newCaller()];
    idle.say(head('GET /things', 'other'));
    await idle.hears('{"by":"the edge"}');
    caller.say(head('GET /', 'mine'));
    const { response } = await taker.next();
    const draining = drain();
    await idle.closes();
    expect([draining.isOver, caller.isClosed]).toEqual([false, false]);
    response.end('in time');
    await draining.over;
    await caller.closes();
    expect(caller.heard).toContain('in time');
  });

  test('tells callers in the answer that the connection ends, also in one to a request that comes only then', async () => {
    const [caller, late, idle] = [newCaller(), newCaller(), newCaller()];
    caller.say(head('GET /', 'mine'));
    const first = await taker.next();
    late.say(head('GET /', 'mine'));
    const begun = await taker.next(2);
    begun.response.write('begun before');
    idle.say(head('GET /things', 'other'));
    await idle.hears('{"by":"the edge"}');
    const draining = drain();
    await idle.closes();
    first.response.end('said in time');
    await caller.closes();
    expect(caller.heard).toMatch(/^connection: close\r$/im);
    expect(caller.heard).toContain('said in time');
    // Sent on a connection of which nobody could be told that it ends.
    late.say(head('GET /', 'mine'));
    const { response } = await taker.next(3);
    const ended = once(begun.response, 'close');
    begun.response.end();
    await ended;
    response.end('said to the late one');
    await Promise.all([late.closes(), draining.over]);
    expect(late.heard).toMatch(/begun before[^]*^connection: close\r$[^]*said to the late one/im);
  });

  test('goes on to accept for a time, and says with each answer that its connection ends', async () => {
    const [before, idle] = [newCaller(), newCaller()];
    for (const each of [before, idle]) each.say(head('GET /things', 'other'));
    for (const each of [before, idle]) await each.hears('{"by":"the edge"}');
    const left = { isOver: false, over: bench.leave(ACCEPT_MS).then(() => void (left.isOver = true)) };
    const [fresh, taken, both] = [newCaller(), newCaller(), newCaller()];
    for (const each of [before, fresh]) each.say(head('GET /things', 'other'));
    taken.say(head('GET /', 'mine'));
    (await taker.next()).response.end('taken');
    both.say(head('GET /things', 'other') + head('GET /', 'mine'));
    (await taker.next(2)).response.end('second');
    for (const each of [before, fresh, taken, both]) await each.closes();
    for (const each of [before, fresh, taken]) expect(each.heard).toMatch(/^connection: close\r$/im);
    // Of two that were sent together the first says nothing, so that the second is answered.
    expect(both.heard).toMatch(/the edge[^]*^connection: close\r$[^]*second/im);
    expect(both.heard.match(/^connection: close\r$/gim)).toHaveLength(1);
    await clock.advance(ACCEPT_MS - 1);
    expect([left.isOver, idle.isClosed]).toEqual([false, false]);
    await clock.advance(1);
    await left.over;
    await bench.close();
    await idle.closes();
    await newCaller().closes();
  });

  test('answers whoever has connected by then', async () => {
    const many = Array.from({ length: BACKLOG }, newCaller);
    await Promise.all(many.map(({ socket }) => once(socket, 'connect')));
    const over = bench.close(LIMIT_MS);
    for (const each of many) each.say(head('GET /things', 'other'));
    for (const each of many) await each.hears('{"by":"the edge"}');
    await over;
    for (const each of many) expect(each.heard).toMatch(/^connection: close\r$/im);
  });

  test('waits for an upgraded connection, and ends with it', async () => {
    const [caller, idle] = [newCaller(), newCaller()];
    idle.say(head('GET /things', 'other'));
    await idle.hears('{"by":"the edge"}');
    caller.say(head('GET /', 'mine', TO_ECHO));
    const { socket } = await taker.nextUpgrade();
    const draining = drain();
    await idle.closes();
    socket.write('still here');
    await caller.hears('still here');
    expect(draining.isOver).toBe(false);
    socket.end();
    caller.socket.end();
    await draining.over;
  });

  test('cuts both at its limit', async () => {
    const [caller, other, idle] = [newCaller(), newCaller(), newCaller()];
    idle.say(head('GET /things', 'other'));
    await idle.hears('{"by":"the edge"}');
    caller.say(head('GET /', 'mine'));
    const { response } = await taker.next();
    other.say(head('GET /', 'mine', TO_ECHO));
    const { socket } = await taker.nextUpgrade();
    const draining = drain();
    await idle.closes();
    await clock.advance(LIMIT_MS - 1);
    expect([draining.isOver, response.destroyed, socket.destroyed]).toEqual([false, false, false]);
    await clock.advance(1);
    await draining.over;
    expect([response.destroyed, socket.destroyed]).toEqual([true, true]);
    await Promise.all([caller.closes(), other.closes()]);
  });
});
