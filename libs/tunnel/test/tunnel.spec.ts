import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { systemClock, type Clock } from '@berth/lifecycle';
import { MetricRegistry, NO_TRACES, silentLogger } from '@berth/telemetry';
import { eventually, ManualClock } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  TunnelDialer,
  TunnelListener,
  type LinkAnswer,
  type LinkTarget,
  type LinkWish,
  type WorkerLink,
} from '../src/index.js';
import type { TunnelOffer } from '../src/tunnel-dialer.js';
import { TunnelError } from '../src/tunnel-error.js';
import { workerLinkConformance } from '../src/worker-link.conformance.js';
import { DialledWorker } from './dialled-worker.js';

const HOST = 'host1' as HostId;
const OTHER_HOST = 'host2' as HostId;
const TARGET: LinkTarget = { hostId: HOST, endpointId: 'endpoint1' as EndpointId, workerId: 'worker1' as WorkerId };
const SOON = { deadlineMs: 90_000, intervalMs: 10 };
const NEVER = new AbortController().signal;

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Router {
  readonly listener: TunnelListener;
  readonly metrics: MetricRegistry;
  offer(hostId?: HostId): TunnelOffer;
}

interface RouterOptions {
  readonly clock?: Clock;
  readonly streamsMax?: number;
}

async function router(name = 'router1', { clock = systemClock, ...more }: RouterOptions = {}): Promise<Router> {
  const metrics = new MetricRegistry();
  const listener = new TunnelListener({ clock, logger: silentLogger, metrics, onChange: () => undefined, ...more });
  const port = await listener.listen('127.0.0.1', 0);
  closers.push(() => listener.close());
  return {
    listener,
    metrics,
    offer: (hostId = HOST) => {
      const invitation = { ticket: randomBytes(16).toString('hex'), key: randomBytes(32) };
      listener.invite(hostId, invitation);
      return { ...invitation, router: name, host: '127.0.0.1', port };
    },
  };
}

function host(link: WorkerLink, hostId = HOST, metrics = new MetricRegistry()): TunnelDialer {
  const parts = { clock: systemClock, logger: silentLogger, metrics, traces: NO_TRACES };
  const dialer = new TunnelDialer({ hostId, link, ...parts });
  closers.push(() => {
    dialer.close();
  });
  return dialer;
}

const stands = ({ listener }: Router): Promise<void> =>
  eventually(async () => {
    const answer = await listener.open({ ...TARGET, workerId: 'probe' as WorkerId }, NEVER);
    if (answer.kind === 'admitted') answer.stream.destroy();
    expect(answer).not.toEqual({ kind: 'refused', reason: 'no-way' });
  }, SOON);

/** Answers one word to whoever asks for a worker, but the probe of `stands`. */
class Refusing implements WorkerLink {
  answers: LinkAnswer = { kind: 'refused', reason: 'full' };
  asked = 0;

  open({ workerId }: LinkTarget): Promise<LinkAnswer> {
    if (workerId === ('probe' as WorkerId)) return Promise.resolve({ kind: 'refused', reason: 'unready' });
    this.asked += 1;
    return Promise.resolve(this.answers);
  }
}

workerLinkConformance('the tunnel', async (port) => {
  const [near, link] = [await router(), new DialledWorker(port)];
  host(link).accept(near.offer());
  await tunnelOf(near);
  return { link: near.listener, target: TARGET, inFlight: () => link.sockets.size };
});

/** A wire between the two that carries nothing any more once it is stopped, and stays open. */
async function standstill(
  offer: TunnelOffer,
  sockets: Socket[] = [],
): Promise<{ readonly offer: TunnelOffer; stop(): void }> {
  const server = createServer((from) => {
    const to = connect(offer.port, offer.host);
    sockets.push(from, to);
    for (const socket of [from, to]) socket.on('error', () => undefined);
    from.pipe(to);
    to.pipe(from);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const stop = (): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { offer: { ...offer, port: (server.address() as AddressInfo).port }, stop };
}

/** Without a request: the worker of the conformance suite counts them. */
const tunnelOf = ({ metrics }: Router): Promise<void> =>
  eventually(async () => {
    expect(await metrics.text()).toMatch(/berth_router_tunnels 1$/m);
  }, SOON);

describe('a tunnel', () => {
  test('says why a host refuses, in its own words', async () => {
    const [near, link] = [await router(), new Refusing()];
    host(link).accept(near.offer());
    await stands(near);
    for (const reason of ['full', 'leaving', 'unready', 'unknown-worker', 'unreachable'] as const) {
      link.answers = { kind: 'refused', reason };
      expect(await near.listener.open(TARGET, NEVER)).toEqual({ kind: 'refused', reason });
    }
    expect(await near.metrics.text()).toMatch(/berth_router_tunnel_opens_total\{outcome="full"\} 1$/m);
  });

  test('tells a host whose worker and whose endpoint are wanted', async () => {
    const worker = createServer((socket) => socket.end('hi'));
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => void worker.close());
    const [near, link] = [await router(), new DialledWorker((worker.address() as AddressInfo).port)];
    host(link).accept(near.offer());
    await tunnelOf(near);
    const answer = await near.listener.open(TARGET, NEVER);
    if (answer.kind === 'admitted') answer.stream.destroy();
    expect(answer.kind).toBe('admitted');
    expect(link.asked).toEqual([TARGET]);
  });

  test('tells a host of each question whether it may wait, and which ones are of the same router', async () => {
    const wishes: LinkWish[] = [];
    const link: WorkerLink = {
      open: (_target, _signal, wish = {}) => {
        wishes.push(wish);
        return Promise.resolve({ kind: 'refused', reason: 'full' });
      },
    };
    const [one, two] = [await router('one'), await router('two')];
    const dialer = host(link);
    for (const each of [one, two]) {
      dialer.accept(each.offer());
      await tunnelOf(each);
    }
    await one.listener.open(TARGET, NEVER);
    await one.listener.open(TARGET, NEVER, { mayWait: true });
    await two.listener.open(TARGET, NEVER, { mayWait: false });
    expect(wishes.map(({ mayWait }) => mayWait)).toEqual([false, true, false]);
    const [first, second, third] = wishes.map(({ asker }) => asker);
    expect([typeof first, second === first, third === first]).toEqual(['object', true, false]);
  });

  test('has room for each endpoint, however many requests another one has in it', async () => {
    const worker = createServer((socket) => socket.on('error', () => undefined));
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => void worker.close());
    const near = await router('router1', { streamsMax: 9 });
    host(new DialledWorker((worker.address() as AddressInfo).port)).accept(near.offer());
    await tunnelOf(near);
    const open = (endpointId: string): Promise<LinkAnswer> =>
      near.listener.open({ ...TARGET, endpointId: endpointId as EndpointId }, NEVER);
    const greedy: LinkAnswer[] = [];
    for (let n = 0; n < 8; n += 1) greedy.push(await open('greedy'));
    const taken = greedy.flatMap((answer) => (answer.kind === 'admitted' ? [answer.stream] : []));
    expect(greedy.slice(6)).toEqual(Array.from({ length: 2 }, () => ({ kind: 'refused', reason: 'full' })));
    expect(taken).toHaveLength(6);
    for (const stream of taken) stream.on('error', () => undefined);
    const other = await open('other');
    expect(other.kind).toBe('admitted');
    if (other.kind === 'admitted') other.stream.destroy();
    for (const stream of taken.slice(0, 2)) stream.destroy();
    await eventually(async () => {
      const next = await open('greedy');
      if (next.kind === 'admitted') next.stream.on('error', () => undefined).destroy();
      expect(next.kind).toBe('admitted');
    }, SOON);
    for (const stream of taken) stream.destroy();
  });

  test('gives a place back that comes too late', async () => {
    const worker = createServer();
    const taken: Socket[] = [];
    worker.on('connection', (socket) => taken.push(socket));
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => void worker.close());
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const dialled = new DialledWorker((worker.address() as AddressInfo).port);
    const near = await router();
    let isAsked = false;
    const link: WorkerLink = {
      open: async (target) => {
        isAsked = true;
        await gate;
        return dialled.open(target, NEVER);
      },
    };
    host(link).accept(near.offer());
    await tunnelOf(near);
    const giveUp = new AbortController();
    const opening = near.listener.open(TARGET, giveUp.signal);
    await eventually(() => {
      expect(isAsked).toBe(true);
    }, SOON);
    giveUp.abort();
    expect(await opening).toEqual({ kind: 'refused', reason: 'timed-out' });
    open();
    await eventually(() => {
      expect(taken).toHaveLength(1);
      expect(dialled.sockets.size).toBe(0);
    }, SOON);
  });

  test('that is lost fails what is in it with its own error, and nothing in another one', async () => {
    const worker = createServer((socket) => socket.on('error', () => undefined));
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => void worker.close());
    const port = (worker.address() as AddressInfo).port;
    const near = await router();
    const second = 'host2' as HostId;
    const [lost, kept] = [host(new DialledWorker(port)), host(new DialledWorker(port), second)];
    lost.accept(near.offer());
    kept.accept(near.offer(second));
    await eventually(async () => {
      expect(await near.metrics.text()).toMatch(/berth_router_tunnels 2$/m);
    }, SOON);
    const [one, other] = await Promise.all([
      near.listener.open(TARGET, NEVER),
      near.listener.open({ ...TARGET, hostId: second }, NEVER),
    ]);
    if (one.kind === 'refused' || other.kind === 'refused') throw new Error('refused');
    const failed = once(one.stream, 'error');
    lost.close();
    expect((await failed)[0]).toBeInstanceOf(TunnelError);
    expect(await near.listener.open(TARGET, NEVER)).toEqual({ kind: 'refused', reason: 'no-way' });
    expect(other.stream.destroyed).toBe(false);
    expect(await near.metrics.text()).toMatch(/berth_router_tunnel_losses_total 1$/m);
    other.stream.destroy();
  });

  test('whose host stands still is lost when a ping is not answered in time', async () => {
    const clock = new ManualClock();
    const near = await router('router1', { clock });
    const wire = await standstill(near.offer());
    const worker = createServer((socket) => socket.on('error', () => undefined));
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => void worker.close());
    host(new DialledWorker((worker.address() as AddressInfo).port)).accept(wire.offer);
    await tunnelOf(near);
    const answer = await near.listener.open(TARGET, NEVER);
    if (answer.kind === 'refused') throw new Error('refused');
    const failed = once(answer.stream, 'error');
    wire.stop();
    await clock.advance(5_000);
    await clock.advance(9_000);
    expect(answer.stream.destroyed).toBe(false);
    await clock.advance(1_000);
    expect((await failed)[0]).toBeInstanceOf(TunnelError);
  });

  test('that a newer one replaces keeps what is in it', async () => {
    const worker = createServer((socket) => socket.pipe(socket));
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => void worker.close());
    const port = (worker.address() as AddressInfo).port;
    const near = await router();
    host(new DialledWorker(port)).accept(near.offer());
    await tunnelOf(near);
    const old = await near.listener.open(TARGET, NEVER);
    if (old.kind === 'refused') throw new Error('refused');
    const newer = new DialledWorker(port);
    host(newer).accept(near.offer());
    await eventually(async () => {
      const answer = await near.listener.open(TARGET, NEVER);
      if (answer.kind === 'admitted') answer.stream.destroy();
      expect(newer.asked.length).toBeGreaterThan(0);
    }, SOON);
    old.stream.write('still');
    expect(String((await once(old.stream, 'data'))[0])).toBe('still');
    old.stream.destroy();
    await tunnelOf(near);
  });
});

describe('what a host counts', () => {
  /** Of the host's metrics, those lines. */
  const shows = (metrics: MetricRegistry, ...lines: readonly string[]): Promise<void> =>
    eventually(async () => {
      expect((await metrics.text()).split('\n')).toEqual(expect.arrayContaining([...lines]));
    }, SOON);

  test('are the tunnels that stand, those that it dialled in vain, and those that it lost', async () => {
    const [near, metrics] = [await router(), new MetricRegistry()];
    const dialer = host(new Refusing(), HOST, metrics);
    dialer.accept({ ...near.offer(), ticket: 'guessed' });
    await shows(metrics, 'berth_agent_tunnel_dials_total{outcome="failed"} 1', 'berth_agent_tunnels 0');
    const sockets: Socket[] = [];
    const wire = await standstill(near.offer(), sockets);
    dialer.accept(wire.offer);
    await shows(
      metrics,
      'berth_agent_tunnel_dials_total{outcome="open"} 1',
      'berth_agent_tunnels 1',
      'berth_agent_tunnel_losses_total 0',
    );
    for (const socket of sockets) socket.destroy();
    await shows(metrics, 'berth_agent_tunnels 0', 'berth_agent_tunnel_losses_total 1');
  });

  test('is no loss where a router lets go of a tunnel in which nothing is', async () => {
    const [near, metrics, dialled] = [await router(), new MetricRegistry(), new Refusing()];
    host(dialled, HOST, metrics).accept(near.offer());
    await tunnelOf(near);
    host(new Refusing()).accept(near.offer());
    await shows(metrics, 'berth_agent_tunnels 0', 'berth_agent_tunnel_losses_total 0');
  });

  test('is a loss where a router goes with a request in it', async () => {
    const worker = createServer((socket) => socket.on('error', () => undefined));
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => void worker.close());
    const [near, metrics] = [await router(), new MetricRegistry()];
    host(new DialledWorker((worker.address() as AddressInfo).port), HOST, metrics).accept(near.offer());
    await tunnelOf(near);
    const answer = await near.listener.open(TARGET, NEVER);
    if (answer.kind === 'refused') throw new Error('refused');
    await near.listener.close();
    await shows(metrics, 'berth_agent_tunnels 0', 'berth_agent_tunnel_losses_total 1');
  });
});

describe('a host that drains', () => {
  test('opens no tunnel any more, though the router offers one again', async () => {
    const near = await router();
    const dialer = host(new Refusing());
    dialer.drain();
    dialer.accept(near.offer());
    host(new Refusing(), OTHER_HOST).accept(near.offer(OTHER_HOST));
    await tunnelOf(near);
    expect(await near.listener.open(TARGET, NEVER)).toEqual({ kind: 'refused', reason: 'no-way' });
  });

  test('also none that was being opened when it began', async () => {
    const near = await router();
    const dialer = host(new Refusing());
    dialer.accept(near.offer());
    dialer.drain();
    await eventually(async () => {
      expect(await near.metrics.text()).toMatch(/berth_router_tunnel_handshakes_total\{outcome="open"\} 1$/m);
    }, SOON);
    await eventually(async () => {
      expect(await near.metrics.text()).toMatch(/berth_router_tunnels 0$/m);
    }, SOON);
  });
});

describe('an invitation', () => {
  const refused = async (near: Router): Promise<void> => {
    await eventually(async () => {
      expect(await near.metrics.text()).toMatch(/berth_router_tunnel_handshakes_total\{outcome="failed"\} [1-9]/m);
    }, SOON);
    expect(await near.listener.open(TARGET, NEVER)).toEqual({ kind: 'refused', reason: 'no-way' });
  };

  test('is good once', async () => {
    const near = await router();
    const offer = near.offer();
    host(new Refusing()).accept(offer);
    await stands(near);
    host(new Refusing()).accept(offer);
    await eventually(async () => {
      expect(await near.metrics.text()).toMatch(/berth_router_tunnel_handshakes_total\{outcome="failed"\} 1$/m);
    }, SOON);
    expect(await near.metrics.text()).toMatch(/berth_router_tunnels 1$/m);
  });

  test.each([
    ['with another key', (offer: TunnelOffer) => ({ ...offer, key: randomBytes(32) })],
    ['that nobody gave', (offer: TunnelOffer) => ({ ...offer, ticket: 'guessed' })],
  ])('%s opens nothing', async (_, change) => {
    const near = await router();
    host(new Refusing()).accept(change(near.offer()));
    await refused(near);
  });

  test('is replaced by the next one of the same host', async () => {
    const near = await router();
    const first = near.offer();
    near.offer();
    host(new Refusing()).accept(first);
    await refused(near);
  });

  test('is not needed to hold a connection, so strangers have their bound and their time', async () => {
    const near = await router();
    const { port } = near.offer();
    const strangers = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'));
    closers.push(() => {
      for (const stranger of strangers) stranger.destroy();
    });
    let gone = 0;
    for (const stranger of strangers) {
      stranger.on('error', () => undefined);
      stranger.once('close', () => (gone += 1));
    }
    await eventually(() => {
      expect(gone).toBeGreaterThanOrEqual(300 - 256);
    }, SOON);
    host(new Refusing()).accept(near.offer());
    await stands(near);
  });
});
