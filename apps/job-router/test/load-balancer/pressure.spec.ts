import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventually } from '@berth/testing';
import { afterEach, expect, test } from '@jest/globals';
import { DoorScene, type SceneOptions } from './door-scene.js';

const MEGABYTE = 1_024 * 1_024;
const PIECE = Buffer.alloc(64 * 1_024, 'x');
/** More than lies in all sockets and buffers between the two ends. */
const LARGE_BYTES = 96 * MEGABYTE;
const IN_BETWEEN_MAX_BYTES = 48 * MEGABYTE;

let scene: DoorScene;
afterEach(() => scene.close());

const open = async (options: SceneOptions = {}): Promise<void> => {
  scene = new DoorScene(options);
  await scene.open();
};

/** Resolves when it has not grown from one look to the next, some turns apart. */
const standsStill = (count: () => number): Promise<void> => {
  let [before, same] = [-1, 0];
  return eventually(() => {
    same = count() === before ? same + 1 : 0;
    before = count();
    expect(same).toBeGreaterThan(3);
  });
};

test('a caller that does not read stops its worker, and both go on where it does', async () => {
  await open();
  let sent = 0;
  await scene.addWorker('w1', (_request, response) => {
    response.writeHead(200, { 'content-length': LARGE_BYTES });
    const more = (): void => {
      while (sent < LARGE_BYTES) {
        sent += PIECE.length;
        if (!response.write(PIECE)) return;
      }
      response.end();
    };
    response.on('drain', more);
    more();
  });
  const caller = scene.caller();
  caller.socket.removeAllListeners('data').pause();
  caller.ask('GET /');
  await eventually(() => expect(sent).toBeGreaterThan(0));
  await standsStill(() => sent);
  expect(sent).toBeLessThan(IN_BETWEEN_MAX_BYTES);
  let heard = 0;
  caller.socket.on('data', (chunk: Buffer) => (heard += chunk.length)).resume();
  await eventually(() => expect(heard).toBeGreaterThan(LARGE_BYTES));
});

test('a worker that does not read stops its caller, and every byte arrives where it does', async () => {
  await open({ bodyBytesMax: LARGE_BYTES });
  let asked: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
  await scene.addWorker('w1', (request, response) => (asked = { request, response }));
  const caller = scene.caller();
  caller.ask('POST /', { 'Content-Length': String(LARGE_BYTES) });
  let sent = 0;
  const all = createHash('sha256');
  const more = (): void => {
    while (sent < LARGE_BYTES) {
      sent += PIECE.length;
      all.update(PIECE);
      if (!caller.socket.write(PIECE)) return;
    }
  };
  caller.socket.on('drain', more);
  more();
  await eventually(() => expect(asked).toBeDefined());
  await standsStill(() => sent);
  expect(sent).toBeLessThan(IN_BETWEEN_MAX_BYTES);
  const arrived = createHash('sha256');
  asked?.request.on('data', (chunk: Buffer) => arrived.update(chunk));
  asked?.request.on('end', () => asked?.response.end(arrived.digest('hex')));
  await eventually(() => expect(sent).toBe(LARGE_BYTES));
  await caller.hears(all.digest('hex'));
});

test('a worker that answers before it has read all has answered, and the rest goes nowhere', async () => {
  await open({ bodyBytesMax: LARGE_BYTES });
  await scene.addWorker('w1', (_request, response) => response.writeHead(403).end('no'));
  const caller = scene.caller();
  caller.ask('POST /', { 'Content-Length': String(LARGE_BYTES) }, 'begin');
  await caller.hears(/^HTTP\/1\.1 403 [^]*no/);
  await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
  await scene.manualClock().advance(5_000);
  await caller.ends();
});

test('a line of callers on few slots is answered one and all, each with its own answer', async () => {
  await open({ slotsPerWorker: 4 });
  for (const id of ['w1', 'w2']) await scene.addWorker(id, (request, response) => request.pipe(response), { slots: 2 });
  const callers = Array.from({ length: 40 }, (_, n) => ({ caller: scene.caller(), body: `body-${n}-` }));
  for (const { body, caller } of callers) caller.ask('POST /', { 'Content-Length': String(body.length) }, body);
  await eventually(async () => {
    // Workers that were full are asked again by the clock.
    await scene.manualClock().advance(100);
    for (const { body, caller } of callers) expect(caller.heard).toContain(body);
  });
  expect(scene.link.mostInFlight).toBe(2);
  expect(callers.every(({ caller }) => caller.heard.match(/body-/g)?.length === 1)).toBe(true);
});
