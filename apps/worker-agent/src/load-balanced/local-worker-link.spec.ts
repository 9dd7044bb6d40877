import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { systemClock, type Clock } from '@berth/lifecycle';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import type { LinkAnswer } from '@berth/tunnel';
import type { BalancedWorker } from './balanced-worker.js';
import { LocalWorkerLink } from './local-worker-link.js';

const HOST = 'host1' as HostId;
const W = 'w1' as WorkerId;
const TARGET = { hostId: HOST, endpointId: 'e1' as EndpointId, workerId: W };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function listening(server: Server | TcpServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket)).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const healthyPort = (): Promise<number> => listening(createServer((_, response) => void response.end('well')));

function newLink(clock: Clock = systemClock, metrics = new MetricRegistry()): LocalWorkerLink {
  const link = new LocalWorkerLink({ hostId: HOST, clock, metrics });
  cleanups.push(() => {
    link.close();
  });
  return link;
}

const workerOn = (
  port: number,
  healthPorts: readonly number[],
  more: Partial<BalancedWorker> = {},
): BalancedWorker => ({
  ...{ workerId: W, endpointId: TARGET.endpointId, containerId: 'c1', address: '127.0.0.1', port, healthPorts },
  ...{ healthPath: '/ping', slots: 1, wasReady: false, isAwake: true, isLeaving: false },
  ...more,
});

const standing = (link: LocalWorkerLink): string | undefined => link.state(W)?.health.standing;

/** One that echoes until its caller has ended, and then ends as well. */
async function withEcho(more: Partial<BalancedWorker> = {}) {
  const port = await listening(createTcpServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket)));
  const link = newLink();
  const worker = workerOn(port, [await healthyPort()], more);
  link.see(worker);
  await eventually(() => expect(standing(link)).toBe('in'));
  return { link, worker };
}

const open = (link: LocalWorkerLink, signal = new AbortController().signal): Promise<LinkAnswer> =>
  link.open(TARGET, signal);

async function admitted(link: LocalWorkerLink): Promise<Duplex> {
  const answer = await open(link);
  if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
  answer.stream.on('error', () => undefined);
  return answer.stream;
}

const refusal = async (answer: Promise<LinkAnswer>): Promise<string> => {
  const got = await answer;
  return got.kind === 'refused' ? got.reason : got.kind;
};

describe('a request', () => {
  test('carries bytes both ways, and its end each way by itself', async () => {
    const { link } = await withEcho();
    const stream = await admitted(link);
    stream.end('hello');
    expect(await text(stream)).toBe('hello');
    await eventually(() => expect(link.state(W)).toMatchObject({ inFlight: 0, finishedRequests: 1 }));
  });

  test('of those that come at once only as many are taken as there are slots, and a free one is given again', async () => {
    const { link } = await withEcho({ slots: 3 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => open(link)));
    const streams = answers.flatMap((answer) => (answer.kind === 'admitted' ? [answer.stream] : []));
    expect(streams).toHaveLength(3);
    expect(answers.filter((answer) => answer.kind === 'refused' && answer.reason === 'full')).toHaveLength(7);
    expect([...link.inFlight()]).toEqual([['e1', 3]]);
    streams[0]?.destroy();
    await eventually(() => expect(link.state(W)?.inFlight).toBe(2));
    expect((await open(link)).kind).toBe('admitted');
  });

  test('that its caller destroys is destroyed at the worker', async () => {
    const ends: string[] = [];
    const server = createTcpServer(
      (socket) => void socket.on('error', () => undefined).on('close', () => ends.push('closed')),
    );
    const link = newLink();
    link.see(workerOn(await listening(server), [await healthyPort()]));
    await eventually(() => expect(standing(link)).toBe('in'));
    (await admitted(link)).destroy();
    await eventually(() => expect(ends).toEqual(['closed']));
  });

  test.each<[string, Partial<typeof TARGET>]>([
    ['another worker', { workerId: 'w9' as WorkerId }],
    ['another endpoint', { endpointId: 'e9' as EndpointId }],
    ['another host', { hostId: 'host9' as HostId }],
  ])('for %s finds none', async (_, other) => {
    const { link } = await withEcho();
    expect(await refusal(link.open({ ...TARGET, ...other }, new AbortController().signal))).toBe('unknown-worker');
  });

  test('that was given up, before or while it is connected, takes no slot', async () => {
    const { link } = await withEcho();
    expect(await refusal(open(link, AbortSignal.abort()))).toBe('timed-out');
    const giving = new AbortController();
    const answer = open(link, giving.signal);
    giving.abort();
    expect(await refusal(answer)).toBe('timed-out');
    expect(link.state(W)?.inFlight).toBe(0);
  });

  test('for one that leaves is refused, and one that is in flight goes on until it is cut off', async () => {
    const { link, worker } = await withEcho({ slots: 2 });
    const stream = await admitted(link);
    link.see({ ...worker, slots: 2, isLeaving: true });
    expect(await refusal(open(link))).toBe('leaving');
    stream.write('on');
    expect(String((await once(stream, 'data'))[0])).toBe('on');
    link.cut(W);
    await eventually(() => expect(link.state(W)?.inFlight).toBe(0));
    expect(stream.destroyed).toBe(true);
  });

  test('for one that is held for a pause, or an agent that goes, is refused', async () => {
    const { link, worker } = await withEcho();
    link.see({ ...worker, isAwake: false });
    expect(await refusal(open(link))).toBe('unready');
    link.see(worker);
    expect((await open(link)).kind).toBe('admitted');
    link.close();
    expect(await refusal(open(link))).toBe('leaving');
  });

  test('that finds no connection is told so, and three of them put the worker out', async () => {
    const port = await healthyPort();
    const gone = createTcpServer();
    gone.listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port: closedPort } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const link = newLink();
    link.see(workerOn(closedPort, [port]));
    await eventually(() => expect(standing(link)).toBe('in'));
    for (let tries = 0; tries < 3; tries += 1) expect(await refusal(open(link))).toBe('unreachable');
    expect(await refusal(open(link))).toBe('unready');
    expect(link.state(W)?.health.words).toContain('ECONNREFUSED');
  });
});

describe('questions that wait for a slot', () => {
  interface Router {
    readonly name: string;
  }
  const [A, B, C] = ['a', 'b', 'c'].map((name) => ({ name })) as [Router, Router, Router];
  const wait = (link: LocalWorkerLink, asker: Router, signal = new AbortController().signal): Promise<LinkAnswer> =>
    link.open(TARGET, signal, { asker, mayWait: true });

  async function full(slots = 1) {
    const clock = new ManualClock();
    const metrics = new MetricRegistry();
    const port = await listening(createTcpServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket)));
    const link = newLink(clock, metrics);
    const worker = workerOn(port, [await healthyPort()], { slots });
    link.see(worker);
    await eventually(() => expect(standing(link)).toBe('in'));
    const streams: Duplex[] = [];
    for (let n = 0; n < slots; n += 1)
      streams.push(await taken(link.open(TARGET, new AbortController().signal, { asker: A })));
    const asksWaiting = async (): Promise<string | undefined> =>
      (await metrics.text()).split('\n').find((line) => line.startsWith('berth_agent_balanced_asks_waiting '));
    return { link, worker, clock, streams, asksWaiting };
  }

  async function taken(asked: Promise<LinkAnswer>): Promise<Duplex> {
    const answer = await asked;
    if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
    answer.stream.on('error', () => undefined);
    return answer.stream;
  }

  test('are given each slot that comes free in their turn, however fast whoever had it asks again', async () => {
    const { link, streams } = await full();
    let [held] = streams;
    const order: string[] = [];
    const routers = [A, B, C];
    const asks = new Map<Router, Promise<[Router, Duplex]>>();
    for (let round = 0; round < 12; round += 1) {
      for (const router of routers) {
        if (!asks.has(router))
          asks.set(
            router,
            taken(wait(link, router)).then((stream) => [router, stream]),
          );
      }
      held?.destroy();
      const [router, stream] = await Promise.race(asks.values());
      asks.delete(router);
      order.push(router.name);
      held = stream;
      expect(link.state(W)?.inFlight).toBe(1);
    }
    expect(order.join('')).toBe('bcabcabcabca');
    link.close();
    await Promise.allSettled(asks.values());
  });

  test('are in nobody’s way once they are given up, and are full again after a while', async () => {
    const { asksWaiting, clock, link, streams } = await full();
    const giving = new AbortController();
    const given = wait(link, B, giving.signal);
    const other = wait(link, C);
    expect(await asksWaiting()).toBe('berth_agent_balanced_asks_waiting 2');
    expect(await refusal(wait(link, C))).toBe('full');
    giving.abort();
    expect(await refusal(given)).toBe('timed-out');
    streams[0]?.destroy();
    const stream = await taken(other);
    const late = wait(link, B);
    await clock.advance(2_000);
    expect(await refusal(late)).toBe('full');
    expect(await asksWaiting()).toBe('berth_agent_balanced_asks_waiting 0');
    stream.destroy();
    await eventually(() => expect(link.state(W)?.inFlight).toBe(0));
  });

  test.each<[string, (link: LocalWorkerLink, worker: BalancedWorker) => void, string]>([
    ['leaves', (link, worker) => link.see({ ...worker, isLeaving: true }), 'leaving'],
    ['is about to rest', (link, worker) => link.see({ ...worker, isAwake: false }), 'unready'],
    ['is gone', (link) => link.forget(W), 'leaving'],
    ['goes with its agent', (link) => link.close(), 'leaving'],
  ])('hear at once that their worker %s', async (_, change, reason) => {
    const { link, worker } = await full();
    const asked = wait(link, B);
    change(link, worker);
    expect(await refusal(asked)).toBe(reason);
  });

  test('are given what a worker may take more than before', async () => {
    const { link, worker } = await full();
    const asked = [wait(link, B), wait(link, C)];
    link.see({ ...worker, slots: 3 });
    await Promise.all(asked.map(taken));
    expect(link.state(W)?.inFlight).toBe(3);
  });
});

describe('health checks', () => {
  async function checked(answer: RequestListener, more: Partial<BalancedWorker> = {}): Promise<LocalWorkerLink> {
    const port = await listening(createServer(answer));
    const link = newLink();
    link.see(workerOn(port, [port], more));
    return link;
  }

  test('ask by the path of the endpoint, and 204 is not yet 200', async () => {
    const paths: (string | undefined)[] = [];
    let status = 204;
    const link = await checked(
      ({ url }, response) => {
        paths.push(url);
        response.writeHead(status).end();
      },
      { healthPath: '/up?deep=1' },
    );
    await eventually(() => expect(standing(link)).toBe('initializing'));
    expect(await refusal(open(link))).toBe('unready');
    status = 200;
    await eventually(() => expect(standing(link)).toBe('in'));
    expect(new Set(paths)).toEqual(new Set(['/up?deep=1']));
  });

  test.each([301, 404, 500])('are no success with %s, and nobody follows', async (status) => {
    const link = await checked(({ url }, response) => {
      response.writeHead(url === '/ping' ? status : 200, { location: '/elsewhere' }).end();
    });
    await eventually(() => expect(standing(link)).toBe('out'));
    expect(link.state(W)?.health.words).toMatch(new RegExp(`^GET /ping on port \\d+ answered ${status}$`));
  });

  test('are no success with a switch to another protocol, which ends them', async () => {
    const link = await checked(({ socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    await eventually(() => expect(standing(link)).toBe('out'));
    expect(link.state(W)?.health.words).toMatch(/^GET \/ping on port \d+ answered 101$/);
  });

  test('count their status, whatever the body does', async () => {
    const link = await checked((_, response) => {
      const flood = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response
        .writeHead(200)
        .on('drain', flood)
        .on('error', () => undefined);
      flood();
    });
    await eventually(() => expect(standing(link)).toBe('in'));
  });

  test('are tried on the second port where the first has none', async () => {
    const link = newLink();
    const port = await healthyPort();
    link.see(workerOn(port, [1, port]));
    await eventually(() => expect(standing(link)).toBe('in'));
    expect(link.state(W)?.healthPort).toBe(port);
  });

  test('that fail on both ports say so of both', async () => {
    const port = await listening(createServer((_, response) => response.writeHead(404).end()));
    const link = newLink();
    link.see(workerOn(port, [1, port]));
    await eventually(() => expect(standing(link)).toBe('out'));
    const words = `GET /ping on port 1 failed: ECONNREFUSED; GET /ping on port ${port} answered 404`;
    expect(link.state(W)?.health.words).toBe(words);
  });

  test('of a path that cannot be asked for are failures, and say so', async () => {
    const link = await checked((_, response) => void response.end(), { healthPath: '/a b' });
    await eventually(() => expect(standing(link)).toBe('out'));
    expect(link.state(W)?.health.words).toContain('cannot be asked');
  });

  test('rest while the worker does, and begin at once after that', async () => {
    let asked = 0;
    const link = await checked((_, response) => {
      asked += 1;
      response.end();
    });
    await eventually(() => expect(standing(link)).toBe('in'));
    const worker = workerOn(1, [1], { isAwake: false });
    link.see(worker);
    const before = asked;
    link.see({ ...worker, isAwake: true, healthPorts: [1] });
    await eventually(() => expect(link.state(W)?.health.words).toContain('ECONNREFUSED'));
    expect(asked).toBe(before);
  });

  test('of an earlier container say nothing of the next one', async () => {
    const { link, worker } = await withEcho();
    link.see({ ...worker, containerId: 'c2', healthPorts: [1] });
    expect(await refusal(open(link))).toBe('unready');
  });
});
