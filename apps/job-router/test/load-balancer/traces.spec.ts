import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { ManualClock, eventually } from '@berth/testing';
import type { Span } from '@berth/telemetry';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DoorScene, type RawCaller, type SceneOptions } from './door-scene.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const RECORDED = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const UNRECORDED = RECORDED.replace(/01$/, '00');

let scene: DoorScene;
afterEach(() => scene.close());

const heard: IncomingHttpHeaders[] = [];
const noting: RequestListener = ({ headers }, response) => {
  heard.push(headers);
  response.end('done');
};

const open = async (options: SceneOptions): Promise<RawCaller> => {
  heard.length = 0;
  scene = new DoorScene(options);
  await scene.open();
  return scene.caller();
};
const openServed = async (options: SceneOptions): Promise<RawCaller> => {
  const caller = await open(options);
  await scene.addWorker('w1', noting);
  return caller;
};

const told = (count: number): Promise<void> => eventually(() => expect(scene.spans).toHaveLength(count));
const spanOf = (name: string): Span => {
  const found = scene.spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`there is no ${name} among ${scene.spans.map((each) => each.name).join()}`);
  return found;
};

describe('a request whose trace is recorded', () => {
  test('has its steps in it, and its worker a place below them', async () => {
    const caller = await openServed({ tracedPermille: 0, loggedPermille: 1_000 });
    const headers = { traceparent: RECORDED, tracestate: 'a=1', 'X-Request-Id': 'mine', 'Content-Length': '0' };
    caller.ask('POST /secret?key=hidden', headers);
    await told(4);
    const [whole, wait] = [spanOf('POST load-balanced'), spanOf('wait for worker')];
    const [ask, sent] = [spanOf('ask worker'), spanOf('send request')];
    expect([whole, wait, ask, sent].map(({ parentSpanId }) => parentSpanId)).toEqual([
      '00f067aa0ba902b7',
      whole.context.spanId,
      wait.context.spanId,
      whole.context.spanId,
    ]);
    expect(heard).toMatchObject([{ traceparent: `00-${TRACE_ID}-${sent.context.spanId}-01`, tracestate: 'a=1' }]);
    const where = { 'berth.endpoint.id': 'ep1', 'berth.host.id': 'h1', 'berth.worker.id': 'w1' };
    const how = { 'http.request.method': 'POST', 'http.response.status_code': 200, 'berth.request.outcome': '2xx' };
    expect(whole).toMatchObject({ kind: 'server', error: null, attributes: { ...how, 'berth.endpoint.id': 'ep1' } });
    expect([ask, sent]).toMatchObject([
      { kind: 'client', error: null, attributes: where },
      { kind: 'client', error: null, attributes: { ...where, ...how } },
    ]);
    expect(JSON.stringify(scene.spans)).not.toMatch(/secret|hidden|mine/);
    const lines = scene.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ outcome }) => outcome === '2xx')).toMatchObject([{ traceId: TRACE_ID }]);
  });

  test('can be found from the times that it took', async () => {
    const caller = await openServed({ tracedPermille: 0 });
    caller.ask('GET /', { traceparent: RECORDED });
    await told(4);
    const { text } = await scene.metrics.expose('application/openmetrics-text');
    for (const name of ['held', 'first_byte', 'total']) {
      expect(text).toMatch(new RegExp(`berth_router_lb_${name}_seconds_bucket.*trace_id="${TRACE_ID}"`));
    }
  });

  test.each([
    [0, 0],
    [1_000, 4],
  ])('begins here by chance: with %d of a thousand there are %d steps', async (tracedPermille, steps) => {
    const caller = await openServed({ tracedPermille });
    caller.ask('GET /', { tracestate: 'a=1' });
    await caller.hears('done');
    await told(steps);
    const given = steps === 0 ? undefined : expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(heard[0]?.['traceparent']).toEqual(given);
    expect(heard[0]).not.toHaveProperty('tracestate');
  });

  test('says what each worker answered that was asked for it, a few times', async () => {
    const clock = new ManualClock();
    const caller = await open({ clock, tracedPermille: 0 });
    scene.link.refusals.push(...Array.from({ length: 60 }, () => 'full' as const));
    await scene.addWorker('w1', noting);
    caller.ask('GET /', { traceparent: RECORDED });
    await eventually(async () => {
      await clock.advance(2_000);
      expect(caller.heard).toContain('done');
    });
    await told(19);
    const asks = scene.spans.filter(({ name }) => name === 'ask worker');
    expect(asks.map(({ error }) => error)).toEqual(Array.from({ length: 16 }, () => 'full'));
  });

  test.each([
    { code: 'missing-api-key', status: 401, headers: { Authorization: null } },
    { code: 'endpoint-not-found', status: 404, headers: { Host: 'nobodys-name.lb.test' } },
    { code: 'affinity-worker-gone', status: 404, headers: { 'X-Runpod-Worker-Id': 'strict w9' }, endpoint: 'ep1' },
  ])('and that is refused says $code', async ({ code, endpoint, headers, status }) => {
    const caller = await openServed({ tracedPermille: 0 });
    caller.ask('GET /', { traceparent: RECORDED, ...headers });
    await eventually(() => expect(scene.spans.map(({ name }) => name)).toContain('GET load-balanced'));
    const { attributes, error } = spanOf('GET load-balanced');
    expect(error).toBe(code);
    expect(attributes).toMatchObject({ 'http.response.status_code': status, 'berth.request.outcome': code });
    expect(attributes?.['berth.endpoint.id']).toBe(endpoint);
    expect(JSON.stringify(scene.spans)).not.toMatch(/nobodys-name/);
    expect(scene.spans.filter(({ name }) => name === 'send request')).toEqual([]);
  });

  test('and that its worker fails says so', async () => {
    const caller = await open({ tracedPermille: 0 });
    await scene.addWorker('w1', (_request, response) => response.writeHead(503).end('busy'));
    caller.ask('GET /', { traceparent: RECORDED });
    await told(4);
    expect([spanOf('GET load-balanced').error, spanOf('send request').error]).toEqual(['503', '503']);
  });

  test('and that becomes a WebSocket is over with it', async () => {
    const caller = await open({ tracedPermille: 0 });
    const server = await scene.addWorker('w1', noting);
    server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
      socket.on('data', () => socket.end());
    });
    caller.ask('GET /', { Connection: 'Upgrade', Upgrade: 'websocket', traceparent: RECORDED });
    await caller.hears('hello');
    expect(scene.spans.map(({ name }) => name)).toEqual(['ask worker', 'wait for worker']);
    caller.say('bye');
    await caller.ends();
    caller.socket.end();
    await told(4);
    expect(spanOf('GET load-balanced').attributes).toMatchObject({
      ...{ 'http.response.status_code': 101, 'berth.request.outcome': 'websocket' },
    });
  });
});

test('requests without a good key take nothing from those with one that are to be recorded', async () => {
  const caller = await openServed({ tracedPermille: 0, clock: new ManualClock() });
  const stranger = scene.caller();
  for (let count = 0; count < 12; count += 1) {
    stranger.ask('GET /', { traceparent: RECORDED, Authorization: null });
    await eventually(() => expect(stranger.heard.split('HTTP/1.1 401')).toHaveLength(count + 2));
  }
  await told(10);
  caller.ask('GET /', { traceparent: RECORDED });
  await told(14);
  expect(heard).toMatchObject([{ traceparent: expect.stringMatching(/-01$/) }]);
});

describe('a request whose trace is not recorded', () => {
  test.each<[string, SceneOptions, string]>([
    ['its caller does not', { tracedPermille: 1_000 }, UNRECORDED],
    ['nothing is', {}, RECORDED],
    ['nothing is, by a word of a later version', {}, `cc-${RECORDED.slice(3)}-more`],
  ])('passes as it came, where %s', async (_, options, traceparent) => {
    const caller = await openServed(options);
    caller.ask('GET /', { traceparent, tracestate: 'a=1' });
    await caller.hears('done');
    expect(heard).toMatchObject([{ traceparent, tracestate: 'a=1' }]);
    expect(scene.spans).toEqual([]);
  });
});
