import type { IncomingMessage, ServerResponse } from 'node:http';
import { ManualClock, eventually } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DoorScene, type RawCaller, type SceneOptions } from './door-scene.js';

let scene: DoorScene;
afterEach(() => scene.close());

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  const length = Number(request.headers['content-length'] ?? 0);
  request.resume().on('end', () => response.end('x'.repeat(length + 1)));
};

const open = async (options: SceneOptions = {}): Promise<RawCaller> => {
  scene = new DoorScene(options);
  await scene.open();
  await scene.addWorker('w1', echo);
  return scene.caller();
};

const requestsOf = (outcome: string, endpoint = '_other'): Promise<number> =>
  scene.metric(`berth_router_lb_requests_total{endpoint="${endpoint}",outcome="${outcome}"}`);
const lines = (): readonly Record<string, unknown>[] =>
  scene.logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'a request to a load-balanced endpoint is over');

describe('metrics', () => {
  test('tell of a request how it ended, how long each part took and what passed', async () => {
    const caller = await open();
    caller.ask('POST /secret-path?token=1', { 'Content-Length': '3' }, 'abc');
    await caller.hears('xxxx');
    await eventually(async () => expect(await requestsOf('2xx', 'ep1')).toBe(1));
    for (const part of ['held', 'connect', 'first_byte', 'total'])
      expect(await scene.metric(`berth_router_lb_${part}_seconds_count`)).toBe(1);
    expect(await scene.metric('berth_router_lb_request_bytes_total')).toBe(3);
    expect(await scene.metric('berth_router_lb_answer_bytes_total')).toBe(4);
    expect(await scene.metrics.text()).not.toMatch(/secret-path|token|w1/);
  });

  test('tell what waits and what is in flight, and for how long it waited', async () => {
    const clock = new ManualClock();
    scene = new DoorScene({ clock });
    await scene.open();
    const caller = scene.caller();
    caller.ask('GET /');
    await eventually(async () => expect(await scene.metric('berth_router_lb_held_requests')).toBe(1));
    await clock.advance(20_000);
    let finish = (): void => undefined;
    await scene.addWorker('w1', (_request, response) => (finish = () => response.end('done')));
    await eventually(async () => expect(await scene.metric('berth_router_lb_requests_in_flight')).toBe(1));
    expect(await scene.metric('berth_router_lb_held_requests')).toBe(0);
    expect(await scene.metric('berth_router_lb_held_seconds_sum')).toBe(20);
    await eventually(() => {
      finish();
      expect(caller.heard).toContain('done');
    });
    await eventually(async () => expect(await scene.metric('berth_router_lb_requests_in_flight')).toBe(0));
  });

  test.each<[string, Record<string, string | null>, string]>([
    ['missing-api-key', { Authorization: null }, '_other'],
    ['endpoint-not-found', { Host: 'nothing.lb.test' }, '_other'],
    ['wrong-endpoint-type', { Host: 'queue.lb.test' }, '_other'],
    ['affinity-worker-gone', { 'X-Runpod-Worker-Id': 'strict w9' }, 'ep1'],
  ])('tell of a refusal %s', async (code, headers, endpoint) => {
    const caller = await open();
    caller.ask('GET /', headers);
    await caller.hears(/^HTTP\/1\.1 4/);
    await eventually(async () => expect(await requestsOf(code, endpoint)).toBe(1));
  });

  test('tell of a WebSocket when it is over, with its bytes and without its time', async () => {
    const caller = await open();
    const server = await scene.addWorker('w2', echo);
    scene.change('w1', null);
    server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
      socket.on('data', () => socket.end());
    });
    caller.ask('GET /', { Connection: 'Upgrade', Upgrade: 'websocket' });
    await caller.hears('hello');
    expect(await scene.metric('berth_router_lb_open_sockets')).toBe(1);
    expect(await requestsOf('websocket', 'ep1')).toBe(0);
    caller.say('bye');
    await caller.ends();
    caller.socket.end();
    await eventually(async () => expect(await requestsOf('websocket', 'ep1')).toBe(1));
    expect(await scene.metric('berth_router_lb_request_bytes_total')).toBe(3);
    expect(await scene.metric('berth_router_lb_answer_bytes_total')).toBe(5);
    expect(await scene.metric('berth_router_lb_total_seconds_count')).toBe(0);
  });
});

describe('the access log', () => {
  const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  test('has of a request whose it was and what became of it, and nothing of what it said', async () => {
    const caller = await open({ loggedPermille: 1_000 });
    const headers = { 'X-Request-Id': 'mine-1', 'X-Own': 'hidden', 'Content-Length': '6', traceparent: TRACEPARENT };
    caller.ask(`POST /v1/%1b[31m/${'p'.repeat(300)}?key=hidden`, headers, 'hidden');
    await caller.hears(/X-Request-Id: mine-1[^]*xxxxxxx/);
    await eventually(() => expect(lines()).toHaveLength(1));
    expect(lines()[0]).toMatchObject({
      ...{ requestId: 'mine-1', endpointId: 'ep1', workerId: 'w1', method: 'POST', outcome: '2xx', status: 200 },
      ...{ isCut: false, tookMs: expect.any(Number), inBytes: 6, outBytes: 7, traceId: TRACEPARENT.slice(3, 35) },
    });
    expect(String(lines()[0]?.['path'])).toMatch(/^\/v1\/%1b\[31m\/p{87}…$/);
    expect(scene.logged.join('\n')).not.toMatch(/hidden|bk_|authorization/i);
  });

  test('has all that we failed, as far as there is room, and the share of the others that is set', async () => {
    const caller = await open({ loggedPermille: 0, clock: new ManualClock() });
    caller.ask('GET /');
    await caller.hears('HTTP/1.1 200');
    for (let asked = 1; asked <= 30; asked += 1) {
      caller.ask('GET /', { 'X-Runpod-Worker-Id': 'strict w9' });
      await eventually(async () => expect(await requestsOf('affinity-worker-gone', 'ep1')).toBe(asked));
    }
    expect(lines()).toHaveLength(20);
    expect(lines()[0]).toMatchObject({ outcome: 'affinity-worker-gone', status: 404, workerId: null });
    expect(await scene.metric('berth_router_lb_unlogged_total')).toBe(10);
  });

  test('has ten lines a second for all who are let to no endpoint, whatever they ask for, and says how many more', async () => {
    const clock = new ManualClock();
    const caller = await open({ loggedPermille: 0, clock });
    for (let asked = 1; asked <= 30; asked += 1) {
      caller.ask('GET /', { Host: `e${asked}.lb.test`, Authorization: null });
      await eventually(async () => expect(await requestsOf('missing-api-key')).toBe(asked));
    }
    expect(lines()).toHaveLength(10);
    expect(await scene.metric('berth_router_lb_unlogged_total')).toBe(20);
    caller.ask('GET /', { 'X-Runpod-Worker-Id': 'strict w9' });
    await eventually(() => expect(lines()).toHaveLength(11));
    await clock.advance(1_000);
    caller.ask('GET /', { Authorization: null });
    await eventually(() => expect(lines()).toHaveLength(12));
    expect(
      lines()
        .map(({ leftOut }) => leftOut)
        .filter(Boolean),
    ).toEqual([20]);
  });
});
