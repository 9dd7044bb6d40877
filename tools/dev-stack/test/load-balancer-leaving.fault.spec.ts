import type { IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { BalancedEndpoint, type BalancedOptions, type BalancedWorker } from './stack/balanced-endpoint.js';
import { FurtherHost } from './stack/further-host.js';
import { OpenLoad } from './stack/open-load.js';
import { ReadyRouters } from './stack/ready-routers.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 50 };
const IMAGES = resolve(import.meta.dirname, 'workers');
const WORKERS = 2;
const ROUTERS = ['job-router', 'job-router-2'] as const;
/** Of each host: room for one worker, or for one that is small and the one that takes its place. */
const VCPUS = 8;
const SMALL_VCPUS = VCPUS / 2;
/** More than those have. */
const LARGE_VCPUS = 2 * VCPUS;
/** Time to see a router that leaves and still accepts. */
const DRAIN_DELAY_MS = 5_000;
/** Of one worker: more than the load ever has under way, so that it brings no further one. */
const SLOTS = 400;
const COME_AGAIN = 1_012;
const STREAM = 'data: first\n\ndata: last\n\n';
/** What the interface allows at least. */
const SHORT_TIMEOUT_MS = 5_000;

let stack: StartedStack;
let endpoint: BalancedEndpoint;

beforeAll(async () => {
  const size = ['--hosts', '2', '--vcpus', String(VCPUS), '--routers', '2', '--rate-limits', 'off'];
  size.push('--drain-delay-ms', String(DRAIN_DELAY_MS));
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off', ...size]);
});
afterEach(async () => {
  await endpoint.remove();
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

/** Unless said, with a worker on each host. */
async function create(options: Partial<BalancedOptions>): Promise<void> {
  const common = { requestCount: SLOTS, workers: { min: WORKERS, max: WORKERS }, vcpus: VCPUS };
  endpoint = await BalancedEndpoint.create(stack, { ...common, env: { VERSION: '1' }, ...options });
}

const strict = ({ id }: BalancedWorker): Record<string, string> => ({ 'x-runpod-worker-id': `strict ${id}` });

interface Stream {
  readonly answer: IncomingMessage;
  readonly whole: Promise<string>;
}

/** Events of a worker, of which the last one waits at a gate. */
async function openStream(gate: string, worker: BalancedWorker, router = 0): Promise<Stream> {
  const nonce = systemRandom.id(20);
  const answer = await endpoint.open(`/sse?gate=${gate}&nonce=${nonce}`, { router, headers: strict(worker) });
  await endpoint.reached(nonce);
  return { answer, whole: text(answer) };
}

/** A WebSocket of a worker, once it has said something back. */
async function openSocket(worker: BalancedWorker, router = 0): Promise<{ closed: Promise<number> }> {
  const headers = endpoint.headersOf({ headers: strict(worker) });
  const socket = new WebSocket(endpoint.webSocketUrl({ router }), { headers });
  const closed = new Promise<number>((done, fail) => socket.once('close', done).once('error', fail));
  const heard = new Promise((done) => socket.once('message', done));
  socket.once('open', () => socket.send('there?'));
  await heard;
  return { closed };
}

/** What the load does meanwhile fails for nobody. */
async function underLoad(
  count: number,
  story: (load: OpenLoad, routers: ReadyRouters) => Promise<void>,
): Promise<OpenLoad> {
  const routers = new ReadyRouters(stack, ROUTERS);
  const load = new OpenLoad(endpoint, { isReady: (router) => routers.has(router) });
  try {
    await load.goesOn((await endpoint.up(count)).map(({ id }) => id));
    await story(load, routers);
  } finally {
    await load.end();
    await routers.end();
  }
  expect(load.failed()).toEqual([]);
  const nonces = endpoint.tokens().map(({ nonce }) => nonce);
  expect(new Set(nonces).size).toBe(nonces.length);
  return load;
}

/** Workers of both hosts answer by both routers. */
const allGoesOn = async (load: OpenLoad): Promise<void> =>
  load.goesOn((await endpoint.up(WORKERS)).map(({ id }) => id));

test('a release rolls, nothing fails, and what takes longer than the roll is answered to its end', async () => {
  // Those of before have their streams, so that the next ones need a place beside them.
  await create({ vcpus: SMALL_VCPUS, workers: { min: WORKERS, max: 2 * WORKERS } });
  const old = await endpoint.up(WORKERS);
  const streams = await Promise.all(old.map((worker, router) => openStream('roll', worker, router)));
  const load = await underLoad(WORKERS, async (each) => {
    await endpoint.release({ VERSION: '2' });
    const isNew = ({ status, version }: BalancedWorker): boolean =>
      version === 2 && ['IDLE', 'RUNNING'].includes(status);
    const next = await eventually(async () => {
      const now = await endpoint.workers();
      expect(now.filter(isNew)).toHaveLength(WORKERS);
      return now.filter(isNew);
    }, WAIT);
    await each.goesOn(next.map(({ id }) => id));
    // Those before leave, and have their streams still.
    const before = each.sent;
    await each.goesOn(next.map(({ id }) => id));
    const late = each.of('right').filter(({ index }) => index >= before);
    expect(new Set(late.map(({ version }) => version))).toEqual(new Set(['2']));
    expect(streams.map(({ answer }) => answer.readableEnded || answer.destroyed)).toEqual([false, false]);
    endpoint.openGate('roll');
    expect(await Promise.all(streams.map(({ whole }) => whole))).toEqual([STREAM, STREAM]);
    await eventually(async () => expect((await endpoint.workers()).filter(isNew)).toHaveLength(WORKERS), WAIT);
  });
  expect(load.of('right')[0]?.version).toBe('1');
});

test('a WebSocket whose worker leaves is told to come again once its time is over', async () => {
  await create({ timeout: SHORT_TIMEOUT_MS, vcpus: SMALL_VCPUS });
  const [worker] = await endpoint.up(WORKERS);
  const { closed } = await openSocket(worker!);
  await endpoint.release({ VERSION: '2' });
  expect(await closed).toBe(COME_AGAIN);
});

test('a router that is upgraded says so before it goes, answers what it has, and no caller who looks fails', async () => {
  await create({});
  const [worker] = await endpoint.up(WORKERS);
  const pid = stack.pidOf('job-router-2');
  await underLoad(WORKERS, async (load, routers) => {
    const stream = await openStream('router', worker!, 1);
    const { closed } = await openSocket(worker!, 1);
    process.kill(pid, 'SIGTERM');
    await eventually(async () => {
      expect(await routers.ask(1)).toMatchObject({ status: 503, body: { status: 'stopping' } });
    }, WAIT);
    const late = { status: 200, headers: { connection: 'close' }, body: 'pong' };
    expect(await endpoint.ask('/ping', { router: 1 })).toMatchObject(late);
    await eventually(async () => {
      expect(await endpoint.ask('/ping', { router: 1 })).toEqual({ kind: 'cut', code: 'ECONNREFUSED' });
    }, WAIT);
    endpoint.openGate('router');
    expect(await stream.whole).toBe(STREAM);
    expect(await closed).toBe(COME_AGAIN);
    await eventually(() => expect(stack.pidOf('job-router-2')).not.toBe(pid), WAIT);
    await allGoesOn(load);
  });
});

test('an agent that is upgraded lets its requests end, and all else goes to the other host', async () => {
  await create({});
  const { hostId } = stack.dev.agents[0]!;
  const worker = (await endpoint.up(WORKERS)).find((each) => each.hostId === hostId);
  const pid = stack.pidOf('worker-agent');
  await underLoad(WORKERS, async (load) => {
    const stream = await openStream('agent', worker!);
    const { closed } = await openSocket(worker!);
    process.kill(pid, 'SIGTERM');
    endpoint.openGate('agent');
    expect(await stream.whole).toBe(STREAM);
    expect(await closed).toBe(COME_AGAIN);
    await eventually(() => expect(stack.pidOf('worker-agent')).not.toBe(pid), WAIT);
    await allGoesOn(load);
  });
});

test('an agent that is upgraded and keeps its workers answers what it has, and all else waits for its next life', async () => {
  const tenant = new TenantClient(() => stack.dev, WAIT.deadlineMs);
  const settings = { BERTH_KEEP_WORKERS: 'true', BERTH_RUNTIME: 'process', BERTH_IMAGES: IMAGES };
  const host = await FurtherHost.add(stack, tenant, {
    ...{ name: 'keeper', dataCenterId: 'EU-RO-1' },
    settings: { ...settings, BERTH_VCPUS: String(LARGE_VCPUS), BERTH_TUNNEL_VIA: '127.0.0.1' },
  });
  try {
    await create({ vcpus: LARGE_VCPUS, workers: { min: 1, max: 1 } });
    const [worker] = await endpoint.up(1);
    expect(worker?.hostId).toBe(host.hostId);
    await underLoad(1, async (load) => {
      const stream = await openStream('keeper', worker!);
      const { closed } = await openSocket(worker!);
      const ended = host.end('SIGTERM');
      endpoint.openGate('keeper');
      expect(await stream.whole).toBe(STREAM);
      expect(await closed).toBe(COME_AGAIN);
      expect(await ended).toBe(0);
      host.start();
      await load.goesOn([worker!.id]);
    });
    // The same worker in the same life: nobody has started it anew.
    expect(await endpoint.up(1)).toMatchObject([{ id: worker!.id }]);
    expect(new Set(endpoint.tokens().map(({ pid }) => pid)).size).toBe(1);
  } finally {
    // Its workers would go on without it, so they leave while it is there.
    await host.end('SIGTERM');
    host.start();
    await endpoint.remove();
    await host.remove();
  }
});
