import { resolve } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { ProcessName } from '../src/dev-file.js';
import { StartedStack } from '../src/started-stack.js';
import { BalancedEndpoint, type BalancedWorker, type Outcome } from './stack/balanced-endpoint.js';
import { OpenLoad, type Fate } from './stack/open-load.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const IMAGES = resolve(import.meta.dirname, 'workers');
/** Each host has room for one worker. */
const VCPUS = 4;
const SLOTS = 8;
const WORKERS = 2;
const ROUTERS = ['job-router', 'job-router-2'] as const;
const AGENTS = ['worker-agent', 'worker-agent-2'] as const;

let stack: StartedStack;
let endpoint: BalancedEndpoint;
let load: OpenLoad;
/** In the order of the agents. */
let workers: readonly BalancedWorker[];

beforeAll(async () => {
  const size = ['--hosts', '2', '--vcpus', String(VCPUS), '--routers', '2', '--rate-limits', 'off'];
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off', ...size]);
  const range = { min: WORKERS, max: WORKERS };
  endpoint = await BalancedEndpoint.create(stack, { requestCount: SLOTS, workers: range, vcpus: VCPUS });
});
beforeEach(async () => {
  const up = await endpoint.up(WORKERS);
  workers = AGENTS.map((_, index) => up.find(({ hostId }) => hostId === stack.dev.agents[index]?.hostId)!);
  load = new OpenLoad(endpoint);
  await load.goesOn(ids());
});
afterEach(async () => {
  await load.end();
  expect(load.of('wrong')).toEqual([]);
  const nonces = endpoint.tokens().map(({ nonce }) => nonce);
  expect(new Set(nonces).size).toBe(nonces.length);
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

const ids = (): readonly string[] => workers.map(({ id }) => id);
const isGone = (pid: number): Promise<void> => eventually(() => expect(() => process.kill(pid, 0)).toThrow(), WAIT);

/** All workers there are answer by both routers what was sent after this was called. */
async function allGoesOn(): Promise<void> {
  await load.goesOn((await endpoint.up(WORKERS)).map(({ id }) => id));
}

/** A request that waits at a worker's gate. */
async function wait(gate: string, { router, workerId }: { readonly router: number; readonly workerId: string }) {
  const nonce = systemRandom.id(20);
  const headers = { 'x-runpod-worker-id': `strict ${workerId}` };
  const answer: Promise<Outcome> = endpoint.ask(`/echo?gate=${gate}&nonce=${nonce}`, { router, headers, body: nonce });
  const early = answer.then((outcome): never => {
    throw new Error(`answered before it has reached a worker: ${JSON.stringify(outcome)}`);
  });
  return { nonce, answer, reached: await Promise.race([endpoint.reached(nonce), early]) };
}

const metric = async (process: ProcessName, line: string): Promise<number> => {
  const text = await (await fetch(`${stack.dev.operations[process]}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.split(' ')
      .at(-1) ?? 0,
  );
};

/** Failed by the loss of this worker, or of the way to it, and known to have been there. */
const lostAt = (worker: BalancedWorker): object => expect.objectContaining({ workerId: worker.id });

/** Nothing else failed than what was sent until then. */
function expectFailed(failed: readonly Fate[], { before, match }: { readonly before: number; readonly match: object }) {
  expect(failed).toEqual(failed.map(() => match));
  expect(failed.filter(({ index }) => index >= before)).toEqual([]);
  for (const fate of failed) {
    if (fate.kind === 'problem') expect(fate).toMatchObject({ status: 502, code: 'worker-connection-lost' });
  }
}

test('a worker that is killed fails what it had, which says so, and nothing else', async () => {
  const [own] = workers;
  const held = await wait('worker', { router: 0, workerId: own!.id });
  process.kill(held.reached.pid, 'SIGKILL');
  await isGone(held.reached.pid);
  const before = load.sent;
  expect(await held.answer).toMatchObject({ status: 502, headers: { 'x-runpod-worker-id': own!.id } });
  await allGoesOn();
  await load.end();
  expectFailed(load.failed(), { before, match: lostAt(own!) });
});

test('an agent that is killed fails what came through it, which says so, and nothing else', async () => {
  const [own] = workers;
  const held = await wait('agent', { router: 1, workerId: own!.id });
  const pid = stack.pidOf('worker-agent');
  process.kill(pid, 'SIGKILL');
  await isGone(pid);
  const before = load.sent;
  expect(await held.answer).toMatchObject({ status: 502, headers: { 'x-berth-error': 'worker-connection-lost' } });
  await allGoesOn();
  await load.end();
  expectFailed(load.failed(), { before, match: lostAt(own!) });
});

test('a router that is killed fails its own connections, and those of the other one all go on', async () => {
  const pid = stack.pidOf(ROUTERS[1]);
  process.kill(pid, 'SIGKILL');
  await isGone(pid);
  await load.goesOn(ids(), [0]);
  await eventually(() => expect(stack.pidOf(ROUTERS[1])).not.toBe(pid), WAIT);
  await allGoesOn();
  await load.end();
  const failed = load.failed();
  expect(failed).not.toEqual([]);
  expect(failed).toEqual(failed.map(() => expect.objectContaining({ kind: 'cut', router: 1 }) as unknown));
});

test('a worker that is frozen keeps what it has, gets nothing more once its checks fail, and goes on where it was', async () => {
  const [own, other] = workers;
  const held = await wait('frozen-worker', { router: 0, workerId: own!.id });
  process.kill(held.reached.pid, 'SIGSTOP');
  try {
    await eventually(async () => {
      expect(await endpoint.workers()).toContainEqual(expect.objectContaining({ id: own!.id, status: 'UNHEALTHY' }));
    }, WAIT);
    // What had come to it by then fills its slots; all else is answered by the other one.
    const before = load.sent;
    await load.goesOn([other!.id]);
    await eventually(() => {
      const late = load.fates.filter(({ index }) => index >= before).map(({ workerId }) => workerId);
      expect(late.length).toBeGreaterThan(WORKERS * SLOTS);
      expect(new Set(late)).toEqual(new Set([other!.id]));
    }, WAIT);
  } finally {
    endpoint.openGate('frozen-worker');
    process.kill(held.reached.pid, 'SIGCONT');
  }
  expect(await held.answer).toMatchObject({ status: 200, body: held.nonce });
  await allGoesOn();
  await load.end();
  expect(load.failed()).toEqual([]);
});

test('an agent that is frozen fails what it had once it answers no ping, and is not asked from then on', async () => {
  const [, own] = workers;
  const held = await wait('frozen-agent', { router: 0, workerId: own!.id });
  const pid = stack.pidOf(AGENTS[1]);
  process.kill(pid, 'SIGSTOP');
  const askedInVain = (): Promise<readonly number[]> =>
    Promise.all(ROUTERS.map((router) => metric(router, 'berth_router_lb_refusals_total{reason="timed-out"}')));
  let before: number;
  try {
    expect(await held.answer).toMatchObject({ status: 502, headers: { 'x-runpod-worker-id': own!.id } });
    await eventually(async () => {
      expect(await Promise.all(ROUTERS.map((router) => metric(router, 'berth_router_tunnels')))).toEqual([1, 1]);
    }, WAIT);
    before = load.sent;
    const inVain = await askedInVain();
    await load.goesOn([workers[0]!.id]);
    expect(await askedInVain()).toEqual(inVain);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await allGoesOn();
  await load.end();
  expectFailed(load.failed(), { before, match: lostAt(own!) });
});

test('a router that is frozen gives its slots back once it answers no ping, and the other one goes on with them', async () => {
  const pid = stack.pidOf(ROUTERS[1]);
  const all = workers.flatMap(({ id: workerId }) => Array<string>(SLOTS).fill(workerId));
  await load.end();
  expect(load.failed()).toEqual([]);
  const held = await Promise.all(all.map((workerId) => wait('frozen-router', { router: 1, workerId })));
  process.kill(pid, 'SIGSTOP');
  try {
    // No slot is free before that.
    load = new OpenLoad(endpoint);
    await load.goesOn(ids(), [0]);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  for (const { answer } of held) expect(await answer).toMatchObject({ status: 502 });
  await allGoesOn();
  await load.end();
  expect(load.failed().filter(({ router }) => router === 0)).toEqual([]);
});
