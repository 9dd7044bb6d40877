import { readlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';
import { OpenLoad } from './stack/open-load.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const IMAGES = resolve(import.meta.dirname, 'workers');
const [VCPUS, SMALL_VCPUS] = [4, 2];
/** One on each host, which has room for one, and for one that is small. */
const WORKERS = 3;
/** Enough for several of all that is said at intervals to be missed. */
const MEANWHILE = 1_000;

let stack: StartedStack;
let endpoint: BalancedEndpoint;

beforeAll(async () => {
  const size = [
    '--hosts',
    String(WORKERS),
    '--vcpus',
    String(VCPUS + SMALL_VCPUS),
    '--routers',
    '2',
    '--rate-limits',
    'off',
  ];
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off', ...size]);
  const workers = { min: WORKERS, max: WORKERS };
  endpoint = await BalancedEndpoint.create(stack, { requestCount: 8, workers, vcpus: VCPUS });
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

/** The broker goes and comes back while all is under load, and a request waits at each worker; nothing fails. */
async function whileAway(gate: string, goAndComeBack: (load: OpenLoad) => Promise<void>): Promise<void> {
  const workers = await endpoint.up(WORKERS);
  const ids = workers.map(({ id }) => id);
  const load = new OpenLoad(endpoint);
  try {
    await load.goesOn(ids);
    const nonces = ids.map(() => systemRandom.id(20));
    const answers = nonces.map((nonce, at) => {
      const headers = { 'x-runpod-worker-id': `strict ${ids[at]}` };
      return endpoint.ask(`/echo?gate=${gate}&nonce=${nonce}`, { router: at % 2, headers, body: nonce });
    });
    await Promise.all(nonces.map((nonce) => endpoint.reached(nonce)));
    await goAndComeBack(load);
    await load.goesOn(ids);
    endpoint.openGate(gate);
    expect(await Promise.all(answers)).toMatchObject(nonces.map((body) => ({ status: 200, body })));
  } finally {
    await load.end();
  }
  expect(load.failed()).toEqual([]);
  // The same workers, which nobody has taken for lost.
  expect((await endpoint.up(WORKERS)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
}

/** What waits brings a worker: it is told by the broker, as what is in flight is. */
async function demandIsHeard(): Promise<void> {
  const asleep = await BalancedEndpoint.create(stack, {
    requestCount: 1,
    workers: { min: 0, max: 1 },
    vcpus: SMALL_VCPUS,
  });
  expect(await asleep.ask('/echo?nonce=cold', { body: 'ahoy' })).toMatchObject({ status: 200, body: 'ahoy' });
  await asleep.remove();
}

test('three hosts, each in a network of its own where this user may make them, answer by both routers', async () => {
  const workers = await endpoint.up(WORKERS);
  expect(new Set(workers.map(({ hostId }) => hostId)).size).toBe(WORKERS);
  const networks = new Set(await Promise.all(stack.dev.agents.map(({ pid }) => readlink(`/proc/${pid}/ns/net`))));
  expect(networks.size).toBe(process.getuid?.() === 0 ? WORKERS : 1);
  for (const { id: body } of workers) {
    const headers = { 'x-runpod-worker-id': `strict ${body}` };
    for (const router of [0, 1]) {
      const answer = { status: 200, body, headers: { 'x-runpod-worker-id': body } };
      expect(await endpoint.ask('/echo', { router, headers, body })).toMatchObject(answer);
    }
  }
});

test('a broker that is killed and comes back takes no tunnel along, and demand is heard again', async () => {
  const pid = stack.pidOf('nats-server');
  await whileAway('killed', async () => {
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(stack.pidOf('nats-server')).not.toBe(pid), WAIT);
  });
  await demandIsHeard();
});

test('while the broker stands still, routers go on with what they know', async () => {
  const pid = stack.pidOf('nats-server');
  await whileAway('frozen', async (load) => {
    process.kill(pid, 'SIGSTOP');
    try {
      const before = load.sent;
      await eventually(() => {
        const late = load.of('right').filter(({ index }) => index >= before);
        expect(late.length).toBeGreaterThan(MEANWHILE);
      }, WAIT);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
  await demandIsHeard();
});
