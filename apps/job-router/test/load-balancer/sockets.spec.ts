import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DoorScene, HOST } from './door-scene.js';

const MEGABYTE = 1_024 * 1_024;

let scene: DoorScene;
let server: Server;
let sockets: WebSocketServer;
let clients: WebSocket[];
/** What the worker saw at the end of each socket. */
let closed: number[];

beforeEach(async () => {
  [clients, closed] = [[], []];
  scene = new DoorScene({ slotsPerWorker: 4 });
  await scene.open();
  server = createServer((_request, response) => response.end('no socket'));
  sockets = new WebSocketServer({ server, path: '/echo', maxPayload: 8 * MEGABYTE });
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on('close', (code) => closed.push(code)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scene.assign('w1', (server.address() as AddressInfo).port, { slots: 4 });
});
afterEach(async () => {
  for (const client of clients) client.terminate();
  for (const socket of sockets.clients) socket.terminate();
  await scene.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const connectTo = (path: string, authorization: string | null = `Bearer ${scene.key}`): WebSocket => {
  const headers = { host: HOST, ...(authorization === null ? {} : { authorization }) };
  const client = new WebSocket(`ws://127.0.0.1:${scene.port}${path}`, { headers });
  clients.push(client.on('error', () => undefined));
  return client;
};

const opened = async (): Promise<WebSocket> => {
  const client = connectTo('/echo');
  await new Promise((resolve) => client.once('open', resolve));
  return client;
};

const message = (client: WebSocket): Promise<Buffer> =>
  new Promise((resolve) => client.once('message', (data) => resolve(data as Buffer)));

const closing = (client: WebSocket): Promise<number> => new Promise((resolve) => client.once('close', resolve));

test('messages, large ones and ones in fragments pass both ways, and pings are the worker’s to answer', async () => {
  const client = await opened();
  const heard = message(client);
  client.send('hello');
  expect((await heard).toString()).toBe('hello');
  const large = Buffer.alloc(MEGABYTE, 7);
  const back = message(client);
  client.send(large, { compress: false });
  expect((await back).equals(large)).toBe(true);
  const whole = message(client);
  client.send('one, ', { fin: false });
  client.send('two, ', { fin: false });
  client.send('three', { fin: true });
  expect((await whole).toString()).toBe('one, two, three');
  const pong = new Promise<Buffer>((resolve) => client.once('pong', resolve));
  client.ping('there?');
  expect((await pong).toString()).toBe('there?');
});

test('the code of whoever closes reaches the other end, and then the worker is free', async () => {
  const mine = await opened();
  mine.close(4_001, 'mine');
  await eventually(() => expect(closed).toEqual([4_001]));
  const other = await opened();
  const code = closing(other);
  for (const socket of sockets.clients) socket.close(4_002);
  expect(await code).toBe(4_002);
  await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
  expect(scene.parts.door.openSockets).toBe(0);
});

test('the answer has the worker’s id', async () => {
  const client = connectTo('/echo');
  const headers = new Promise<Record<string, unknown>>((resolve) =>
    client.once('upgrade', ({ headers: said }) => resolve(said)),
  );
  expect((await headers)['x-runpod-worker-id']).toBe('w1');
});

test('a caller without a key has no socket, and one whose worker refuses has its answer', async () => {
  const answerOf = (client: WebSocket): Promise<number> =>
    new Promise((resolve) => client.once('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode)));
  expect(await answerOf(connectTo('/echo', null))).toBe(401);
  expect(scene.link.asked).toEqual([]);
  expect(await answerOf(connectTo('/elsewhere'))).toBe(400);
  await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
});

test('a caller that waits for a worker and goes leaves the line', async () => {
  scene.change('w1', { phase: 'starting' });
  const client = connectTo('/echo');
  await eventually(() => expect(scene.parts.places.total().held).toBe(1));
  client.terminate();
  await eventually(() => expect(scene.parts.places.total().held).toBe(0));
});

test('a worker that dies cuts its sockets', async () => {
  const client = await opened();
  const code = closing(client);
  for (const socket of sockets.clients) socket.terminate();
  expect(await code).toBe(1_006);
});

test('a way to the worker that breaks, as at the end of a drain, tells the ends of sockets to come again', async () => {
  const client = await opened();
  const [code, heard] = [closing(client), message(client)];
  client.send('hello');
  await heard;
  scene.link.breakAll();
  expect(await code).toBe(1_012);
  await eventually(() => expect([scene.link.inFlight.get('w1'), scene.parts.door.openSockets]).toEqual([0, 0]));
});

test('a way that breaks within a frame cuts its socket, for whatever was said would be read as part of the frame', async () => {
  const client = await opened();
  const code = closing(client);
  const [socket] = sockets.clients;
  const written = new Promise((resolve) => client.once('ping', resolve));
  // The first half of a frame, behind a whole one that shows when it has come.
  (socket as unknown as { readonly _socket: Socket })._socket.write(Buffer.from([0x89, 0, 0x81, 100, 1, 2, 3]));
  await written;
  scene.link.breakAll();
  expect(await code).toBe(1_006);
});

test('a router that stops tells the ends of sockets to come again', async () => {
  const client = await opened();
  const code = closing(client);
  scene.stop();
  await scene.manualClock().advance(8_000);
  expect(await code).toBe(1_012);
  await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
});

test('a socket on which nothing moves is closed', async () => {
  const client = await opened();
  const code = closing(client);
  await scene.manualClock().advance(600_001);
  expect(await code).toBe(1_006);
});
