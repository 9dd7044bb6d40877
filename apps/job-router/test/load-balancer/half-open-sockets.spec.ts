import type { Socket } from 'node:net';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DoorScene, type RawCaller } from './door-scene.js';
import { RawWorker, onHead } from './raw-worker.js';

const SWITCHES =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\n\r\n';
const HALF_OPEN_MS = 5_000;

let scene: DoorScene;
let worker: RawWorker;
beforeEach(async () => {
  scene = new DoorScene();
  worker = new RawWorker(onHead((socket) => socket.write(SWITCHES)));
  await scene.open();
  scene.assign('w1', await worker.open());
});
afterEach(async () => {
  await worker.close();
  await scene.close();
});

/** A WebSocket of which neither end closes for the sake of the other. */
async function opened(): Promise<{ readonly caller: RawCaller; readonly atWorker: Socket }> {
  const caller = scene.caller();
  caller.ask('GET /', { Connection: 'Upgrade', Upgrade: 'websocket' });
  await caller.hears('101 Switching');
  const [atWorker] = worker.sockets;
  if (atWorker === undefined) throw new Error('the worker has no connection');
  return { caller, atWorker };
}

const isHeld = (): void => {
  expect([scene.link.inFlight.get('w1'), scene.parts.door.openSockets]).toEqual([1, 1]);
};
const isFree = (): Promise<void> =>
  eventually(() => expect([scene.link.inFlight.get('w1'), scene.parts.door.openSockets]).toEqual([0, 0]));

test('a caller that has closed its side is told what the worker says at once, and no more after a moment', async () => {
  const { atWorker, caller } = await opened();
  const ended = new Promise((resolve) => atWorker.once('end', resolve));
  caller.say('last words');
  caller.socket.end();
  await ended;
  expect(worker.heard[0]).toMatch(/last words$/);
  atWorker.write('an answer');
  await caller.hears('an answer');
  await scene.manualClock().advance(HALF_OPEN_MS - 1);
  isHeld();
  await scene.manualClock().advance(1);
  await isFree();
});

test('a caller that has closed its side is not held by a worker that goes on to talk', async () => {
  const { atWorker, caller } = await opened();
  const ended = new Promise((resolve) => atWorker.once('end', resolve));
  caller.socket.end();
  await ended;
  for (const word of ['one', 'two']) {
    atWorker.write(word);
    await caller.hears(word);
    isHeld();
    await scene.manualClock().advance(HALF_OPEN_MS / 2);
  }
  await isFree();
});

test('a worker that has closed its side is free a moment later, though the caller stays', async () => {
  const { atWorker, caller } = await opened();
  atWorker.end('goodbye');
  await eventually(() => expect(caller.isEnded).toBe(true));
  expect(caller.heard).toMatch(/goodbye$/);
  isHeld();
  await scene.manualClock().advance(HALF_OPEN_MS);
  await isFree();
});
