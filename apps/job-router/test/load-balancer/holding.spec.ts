import type { IncomingMessage, ServerResponse } from 'node:http';
import { letRun, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DoorScene, type RawCaller, type SceneOptions } from './door-scene.js';

let scene: DoorScene;
/** Requests that workers have and have not answered, by their path. */
let waiting: Map<string, ServerResponse>;
let order: string[];
beforeEach(() => {
  [waiting, order] = [new Map(), []];
});
afterEach(() => scene.close());

const open = async (options: SceneOptions = {}): Promise<void> => {
  scene = new DoorScene(options);
  await scene.open();
};

const keep = ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
  order.push(url);
  waiting.set(url, response);
};

const asked = (...paths: string[]): Promise<void> => eventually(() => expect(order).toEqual(paths));
const held = (count: number): Promise<void> => eventually(() => expect(scene.parts.places.total().held).toBe(count));

const ask = (path: string, headers: Readonly<Record<string, string | null>> = {}, method = 'GET'): RawCaller => {
  const caller = scene.caller();
  caller.ask(`${method} ${path}`, headers);
  return caller;
};

describe('without a free worker', () => {
  test('requests wait, the oldest goes first, and one that hung up is no longer there', async () => {
    await open();
    const [first] = [ask('/1')];
    await held(1);
    const second = ask('/2');
    await held(2);
    const third = ask('/3');
    await held(3);
    second.socket.destroy();
    await held(2);
    await scene.addWorker('w1', keep);
    await asked('/1');
    waiting.get('/1')?.end('one');
    await first?.hears('one');
    await asked('/1', '/3');
    waiting.get('/3')?.end('three');
    await third.hears('three');
  });

  test('a request that waits for too long is a 503 with the time for a new try', async () => {
    await open();
    const caller = ask('/');
    await held(1);
    await scene.manualClock().advance(119_999);
    expect(caller.heard).toBe('');
    await scene.manualClock().advance(1);
    await caller.hears(/^HTTP\/1\.1 503 [^]*x-berth-error: no-worker-available[^]*Retry-After: 5/);
    expect(scene.parts.places.total().held).toBe(0);
  });

  test.each([
    [
      'one with a key',
      false,
      /^HTTP\/1\.1 503 [^]*"detail":"No worker of this endpoint is up: no host for 1 wanted worker: rack-seven \(gpu\): all taken \(no-capacity\)\."/,
    ],
    ['a stranger at a public endpoint', true, /^HTTP\/1\.1 503 [^]*"detail":"No worker of this endpoint is up\."/],
  ])('%s hears why no worker came, as far as is its business', async (_, isPublic, expected) => {
    await open({ endpoint: { access: { isPublic, allowsPreflights: false } } });
    const hosts = [{ id: 'rack-seven', reason: 'gpu', detail: 'all taken' }];
    const unplaced = { count: 1, reason: 'gpu', detail: 'all taken', sinceMs: 0, hosts };
    scene.outlook = { desired: 1, scaling: { reason: 'demand', sinceMs: 0 }, coming: [], unplaced };
    const caller = ask('/', isPublic ? { Authorization: null } : {});
    await held(1);
    await scene.manualClock().advance(120_000);
    await caller.hears(expected);
    expect(caller.heard.includes('rack-seven')).toBe(!isPublic);
  });

  test('a request whose endpoint is deleted meanwhile is a 404 at once', async () => {
    await open();
    const caller = ask('/');
    await held(1);
    scene.deleteEndpoint();
    await caller.hears(/^HTTP\/1\.1 404 [^]*x-berth-error: endpoint-not-found/i);
    await held(0);
  });

  test('a request whose key is revoked meanwhile is a 401, and its worker hears nothing of it', async () => {
    await open();
    const caller = ask('/revoked');
    await held(1);
    await scene.manualClock().advance(60_000);
    scene.revoke(scene.key);
    await scene.addWorker('w1', keep);
    await caller.hears(/^HTTP\/1\.1 401 [^]*x-berth-error: invalid-api-key/i);
    await eventually(() => expect(scene.link.inFlight.get('w1')).toBe(0));
    expect(order).toEqual([]);
  });

  test('the body of one that waits is not read', async () => {
    await open();
    const caller = ask('/', { Expect: '100-continue', 'Content-Length': '3' }, 'POST');
    await held(1);
    expect(caller.heard).toBe('');
    await scene.addWorker('w1', (request, response) => request.pipe(response));
    await caller.hears('100 Continue');
    caller.say('abc');
    await caller.hears('abc');
  });

  test('a health check does not wait, and wakes nobody; other paths do', async () => {
    await open({ endpoint: { healthCheckPath: '/up' } });
    const check = ask('/up?deep');
    await check.hears(/^HTTP\/1\.1 503 [^]*no-worker-available/);
    const head = ask('/up', {}, 'HEAD');
    await head.hears(/^HTTP\/1\.1 503 [^]*no-worker-available/);
    expect(scene.told.flatMap(({ endpoints }) => endpoints)).toEqual([]);
    ask('/ping');
    await held(1);
  });

  test('a health check goes to a worker that is up', async () => {
    await open();
    await scene.addWorker('w1', keep);
    const check = ask('/ping');
    await asked('/ping');
    waiting.get('/ping')?.end('pong');
    await check.hears('pong');
  });
});

describe('the bound of a worker', () => {
  test('is never exceeded, whoever refuses a request is not asked for it at once again', async () => {
    await open({ slotsPerWorker: 4 });
    await scene.addWorker('w1', keep, { slots: 2 });
    for (const path of ['/1', '/2', '/3', '/4']) {
      ask(path);
      await eventually(() => expect(scene.link.asked.length + scene.parts.places.total().held).toBeGreaterThan(0));
    }
    await held(2);
    await eventually(() => expect(order).toHaveLength(2));
    const questions = scene.link.asked.length;
    await letRun();
    expect(scene.link.asked).toHaveLength(questions);
    await scene.manualClock().advance(1_000);
    expect(scene.link.asked.length).toBeGreaterThan(questions);
    waiting.get(order[0] ?? '')?.end('done');
    await eventually(() => expect(order).toHaveLength(3));
    expect(scene.link.mostInFlight).toBe(2);
  });

  test('a request that one worker refuses goes to another, and to the same one later', async () => {
    await open();
    await scene.addWorker('w1', keep);
    await scene.addWorker('w2', keep);
    scene.link.refusals.push('full');
    ask('/1');
    await asked('/1');
    expect(new Set(scene.link.asked)).toEqual(new Set(['w1', 'w2']));
  });

  test('a worker that was full and has room again gets all that wait, each once it has taken the one before', async () => {
    await open({ slotsPerWorker: 3 });
    await scene.addWorker('w1', keep, { slots: 0 });
    for (const count of [1, 2, 3]) {
      ask(`/${count}`);
      await held(count);
    }
    await eventually(async () => expect(await scene.metric('berth_router_lb_refusals_total{reason="full"}')).toBe(1));
    scene.link.resize('w1', 3);
    await asked('/1', '/2', '/3');
  });

  test('requests go to whoever has fewest, and in turn among equals', async () => {
    await open({ slotsPerWorker: 2 });
    for (const id of ['w1', 'w2', 'w3']) await scene.addWorker(id, (_request, response) => response.end('ok'));
    for (let n = 0; n < 6; n += 1) {
      const caller = ask('/');
      await caller.hears('ok');
      await eventually(() => expect(scene.parts.places.total().inFlight).toBe(0));
    }
    expect(scene.link.asked).toEqual(['w1', 'w2', 'w3', 'w1', 'w2', 'w3']);
  });

  test('a worker that refuses connections is left out for a while, and comes back', async () => {
    await open();
    scene.assign('dead', 1);
    const caller = ask('/');
    for (let n = 1; n <= 3; n += 1) {
      await eventually(() => expect(scene.link.asked).toHaveLength(n));
      await held(1);
      await eventually(async () =>
        expect(await scene.metric('berth_router_lb_refusals_total{reason="unreachable"}')).toBe(n),
      );
      await scene.manualClock().advance(500);
    }
    expect(await scene.metric('berth_router_lb_ejections_total')).toBe(1);
    await scene.manualClock().advance(8_000);
    expect(scene.link.asked).toHaveLength(3);
    await scene.addWorker('dead', (_request, response) => response.end('alive'));
    await scene.manualClock().advance(2_000);
    await caller.hears('alive');
  });

  test('an agent that says nothing is given up, and the request goes on to wait', async () => {
    await open();
    await scene.addWorker('w1', keep);
    scene.link.isSilent = true;
    const caller = ask('/');
    await eventually(() => expect(scene.link.asked).toHaveLength(1));
    await scene.manualClock().advance(120_001);
    await scene.manualClock().advance(5_000);
    await caller.hears(/^HTTP\/1\.1 504 [^]*worker-connect-timeout/);
  });
});

describe('a worker that is wanted', () => {
  const wanting = (value: string): Record<string, string> => ({ 'X-Runpod-Worker-Id': value });
  const answering = (id: string) => scene.addWorker(id, (_request, response) => response.end(`by ${id}`));

  test('softly has the request where it can, and another one where not', async () => {
    await open();
    await answering('w1');
    await answering('w2');
    const liked = ask('/', wanting('w2'));
    await liked.hears('by w2');
    await liked.hears('X-Runpod-Worker-Id: w2');
    const gone = ask('/', wanting('never-was'));
    await gone.hears('HTTP/1.1 200');
  });

  test('strictly is waited for, and is a 404 where it is gone', async () => {
    await open();
    await scene.addWorker('w1', keep);
    await answering('w2');
    ask('/busy', wanting('w1'));
    await asked('/busy');
    const strict = ask('/strict', wanting('strict w1'));
    await held(1);
    const other = ask('/other');
    await other.hears('by w2');
    scene.change('w1', null);
    await strict.hears(/^HTTP\/1\.1 404 [^]*"error":"affinity_worker_gone"/);
    const late = ask('/late', wanting('strict-resume w1'));
    await late.hears(/^HTTP\/1\.1 404 /);
  });

  test('strictly for too long is a 400', async () => {
    await open();
    await scene.addWorker('w1', keep);
    ask('/busy');
    await asked('/busy');
    const strict = ask('/', wanting('strict w1'));
    await held(1);
    await scene.manualClock().advance(300_000);
    await strict.hears(/^HTTP\/1\.1 400 [^]*"error":"worker_timeout"/);
  });
});

describe('the demand that is told', () => {
  const last = () => scene.told.at(-1)?.endpoints;

  test('has a request from when it waits until a worker has it, and is whole every two seconds', async () => {
    await open();
    expect(scene.told[0]).toMatchObject({
      witness: { kind: 'router', id: 'r1', term: scene.clock.nowMs(), part: { index: 0, count: 1 } },
      endpoints: [],
    });
    const sinceMs = scene.clock.nowMs();
    ask('/');
    await held(1);
    await scene.manualClock().advance(50);
    expect(last()).toMatchObject([{ endpointId: 'ep1', queuedNormal: 1, running: 0, oldestQueuedAtMs: sinceMs }]);
    await scene.manualClock().advance(2_000);
    expect(scene.told.at(-1)?.witness.part).toEqual({ index: 0, count: 1 });
    expect(last()).toHaveLength(1);
    await scene.addWorker('w1', keep);
    await asked('/');
    await scene.manualClock().advance(50);
    expect(last()).toMatchObject([{ endpointId: 'ep1', queuedNormal: 0, oldestQueuedAtMs: null }]);
    await scene.manualClock().advance(2_000);
    expect(last()).toEqual([]);
    expect(scene.told.map(({ sequence }) => sequence)).toEqual(scene.told.map((_, index) => index + 1));
  });
});

describe('requests for one worker alone', () => {
  const strictly = (id: string): Record<string, string> => ({ 'X-Runpod-Worker-Id': `strict-resume ${id}` });
  const told = () => scene.told.at(-1)?.endpoints[0];

  test('are told with it, also where another one is idle, and go to it once it is resumed', async () => {
    await open();
    await scene.addWorker('w1', keep);
    await scene.addWorker('w2', (_request, response) => response.end('by w2'));
    scene.change('w2', { isPaused: true });
    const strict = ask('/', strictly('w2'));
    await held(1);
    await scene.manualClock().advance(50);
    expect(told()).toMatchObject({ queuedNormal: 1, strict: [{ workerId: 'w2', queued: 1 }] });
    scene.change('w2', { isPaused: false });
    await strict.hears('by w2');
    await scene.manualClock().advance(50);
    expect(told()).toMatchObject({ queuedNormal: 0 });
    expect(told()).not.toHaveProperty('strict');
    expect(order).toEqual([]);
  });

  test('are told at once, also where as many wait as before', async () => {
    await open();
    for (const id of ['w1', 'w2']) scene.assign(id, 1, { phase: 'starting' });
    const first = ask('/', strictly('w1'));
    await held(1);
    await scene.manualClock().advance(50);
    expect(told()).toMatchObject({ strict: [{ workerId: 'w1', queued: 1 }] });
    first.socket.destroy();
    await held(0);
    ask('/', strictly('w2'));
    await held(1);
    await scene.manualClock().advance(50);
    expect(told()).toMatchObject({ queuedNormal: 1, strict: [{ workerId: 'w2', queued: 1 }] });
  });
});

describe('a router that stops', () => {
  test('lets who waits go on to wait, and sends them away shortly before its end; what is in flight ends', async () => {
    await open({ slotsPerWorker: 2 });
    await scene.addWorker('w1', keep, { slots: 1 });
    const flying = ask('/flying');
    await asked('/flying');
    const served = ask('/served');
    await held(1);
    scene.stop();
    await scene.addWorker('w2', keep, { slots: 1 });
    await asked('/flying', '/served');
    const waits = ask('/waits');
    await held(1);
    await scene.manualClock().advance(8_000);
    await waits.hears(/^HTTP\/1\.1 503 [^]*Retry-After: 5/);
    const late = ask('/late');
    await late.hears(/^HTTP\/1\.1 503 /);
    waiting.get('/flying')?.end('landed');
    await flying.hears('landed');
    waiting.get('/served')?.end('served');
    await served.hears('served');
  });
});

test('more requests than may wait are refused at once, and those that wait are kept', async () => {
  await open();
  const wish = {
    affinity: { kind: 'any' } as const,
    bytes: 100,
    isPassing: false,
    isKeyed: true,
    gone: new AbortController().signal,
    noteAsk: null,
  };
  const places = Array.from({ length: 1_000 }, () => scene.parts.places.place('ep1' as never, wish));
  void Promise.allSettled(places);
  await held(1_000);
  const caller = ask('/');
  await caller.hears(/^HTTP\/1\.1 429 [^]*x-berth-error: too-many-held-requests[^]*Retry-After: 5/);
  expect(scene.parts.places.total().held).toBe(1_000);
  scene.parts.places.close();
  await Promise.allSettled(places);
});
