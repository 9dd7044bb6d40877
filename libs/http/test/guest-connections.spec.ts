import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Dispatch, DispatchedConnection } from '../src/dispatch/dispatch.js';
import { EdgeBench } from './edge-bench.js';

/** As many as callers without a key may have, and some more. */
const FLOOD = 1_100;

/** At one time: what a listening socket has no room for is dropped by the kernel, and only its caller takes it for open. */
const WAVE = 100;

class Taker implements Dispatch {
  readonly taken: { readonly response: ServerResponse; readonly connection: DispatchedConnection }[] = [];

  takes(): boolean {
    return true;
  }

  takesUpgrade(): boolean {
    return false;
  }

  request(_request: IncomingMessage, response: ServerResponse, connection: DispatchedConnection): void {
    this.taken.push({ response, connection });
  }

  upgrade(): void {
    throw new Error('no upgrade is taken');
  }
}

let taker: Taker;
let bench: EdgeBench;
let sockets: Socket[];
beforeEach(async () => {
  [taker, sockets] = [new Taker(), []];
  bench = new EdgeBench([], { options: { dispatch: taker } });
  await bench.open();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await bench.close();
});

function newSocket(): Socket {
  const socket = connect(bench.port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** A caller whose request is taken. */
async function ask(headers = '') {
  const socket = newSocket();
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  const before = taker.taken.length;
  socket.write(`GET / HTTP/1.1\r\nhost: any\r\n${headers}\r\n`);
  await eventually(() => expect(taker.taken).toHaveLength(before + 1));
  return { ...taker.taken[before]!, socket, hears: (text: string) => eventually(() => expect(heard).toContain(text)) };
}

const gauge = async (name: string): Promise<number> =>
  Number(
    (await bench.metrics.text())
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );

test('an answer to a guest goes on, however many connections come that ask for nothing', async () => {
  const guest = await ask();
  await guest.connection.meet('a1');
  expect(await gauge('berth_http_connections_of_guests')).toBe(1);
  guest.response.write('begun');
  await guest.hears('begun');
  for (let n = 0; n < FLOOD; n += WAVE) {
    await Promise.all(Array.from({ length: WAVE }, () => once(newSocket(), 'connect')));
  }
  // How many go depends on how many of them have given up by themselves meanwhile.
  await eventually(
    async () => expect(await gauge('berth_http_connections_closed_total{reason="without-key"}')).toBeGreaterThan(0),
    { deadlineMs: 90_000 },
  );
  guest.response.end('to its end');
  await guest.hears('to its end');
  guest.socket.destroy();
  await eventually(async () => expect(await gauge('berth_http_connections_of_guests')).toBe(0));
});

test('a guest who shows a good key is one no more, and who has shown one before becomes none', async () => {
  const caller = await ask(`authorization: ${bench.authorization}\r\n`);
  await caller.connection.meet('a2');
  expect([await gauge('berth_http_connections_of_guests'), await gauge('berth_http_connections_with_key')]).toEqual([
    0, 1,
  ]);
  const guest = await ask();
  await guest.connection.meet('a2');
  guest.response.end('once');
  await guest.hears('once');
  guest.socket.write(`GET / HTTP/1.1\r\nhost: any\r\nauthorization: ${bench.authorization}\r\n\r\n`);
  await eventually(() => expect(taker.taken).toHaveLength(3));
  await taker.taken[2]?.connection.admit();
  expect([await gauge('berth_http_connections_of_guests'), await gauge('berth_http_connections_with_key')]).toEqual([
    0, 2,
  ]);
});
