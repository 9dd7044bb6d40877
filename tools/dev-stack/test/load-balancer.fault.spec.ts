import { resolve } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { ProcessName } from '../src/dev-file.js';
import { StartedStack } from '../src/started-stack.js';
import { BalancedEndpoint, type BalancedWorker, type Outcome } from './stack/balanced-endpoint.js';
import { SteadyLoad } from './stack/steady-load.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const IMAGES = resolve(import.meta.dirname, 'workers');
/** Each host has room for one worker. */
const VCPUS = 4;
const AGENTS = ['worker-agent', 'worker-agent-2'] as const;
const LOST = { status: 502, headers: { 'x-berth-error': 'worker-connection-lost' } };

interface Waiting {
  readonly nonce: string;
  readonly answer: Promise<Outcome>;
}

let stack: StartedStack;
let endpoint: BalancedEndpoint;
/** One on each host. */
let workers: readonly BalancedWorker[];
let load: SteadyLoad;

beforeAll(async () => {
  const size = ['--hosts', '2', '--vcpus', String(VCPUS), '--routers', '2', '--rate-limits', 'off'];
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off', ...size]);
  endpoint = await BalancedEndpoint.create(stack, { requestCount: 8, workers: { min: 2, max: 2 }, vcpus: VCPUS });
});
beforeEach(async () => {
  workers = await endpoint.up(2);
  expect(new Set(workers.map(({ hostId }) => hostId)).size).toBe(2);
  load = new SteadyLoad(endpoint, 4);
  await load.goesOn();
});
afterEach(async () => {
  await load.end();
  expect(load.of('wrong')).toEqual([]);
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

/** A request that waits at a worker's gate. */
async function wait(gate: string, { router = 0, workerId }: { router?: number; workerId: string }): Promise<Waiting> {
  const nonce = systemRandom.id(20);
  const headers = { 'x-runpod-worker-id': `strict ${workerId}` };
  const answer = endpoint.ask(`/echo?gate=${gate}&nonce=${nonce}`, { router, headers, body: nonce });
  expect(await endpoint.reached(nonce)).toMatchObject({ workerId });
  return { nonce, answer };
}

const right = ({ nonce }: Waiting): object => ({ status: 200, headers: { 'x-nonce': nonce }, body: nonce });

/** The worker of the agent's host. */
function workerOf(agent: (typeof AGENTS)[number]): BalancedWorker {
  const { hostId } = stack.dev.agents[AGENTS.indexOf(agent)] ?? {};
  const worker = workers.find((each) => each.hostId === hostId);
  if (worker === undefined) throw new Error(`the host of ${agent} has no worker`);
  return worker;
}

/** Ends the process; resolves when there is a next one. */
async function kill(name: ProcessName): Promise<void> {
  const pid = stack.pidOf(name);
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(stack.pidOf(name)).not.toBe(pid), WAIT);
}

/** Resolves when workers of both hosts take requests of both routers. */
async function allGoesOn(): Promise<void> {
  await load.goesOn();
  await eventually(async () => {
    const up = await endpoint.up(2);
    for (const { id } of up) {
      const headers = { 'x-runpod-worker-id': `strict ${id}` };
      for (const router of [0, 1]) {
        const outcome = await endpoint.ask('/echo', { router, headers, body: 'x' });
        expect(outcome).toMatchObject({ status: 200, headers: { 'x-runpod-worker-id': id } });
      }
    }
  }, WAIT);
}

test('the process of a worker is killed: what it had fails, what others have does not, and it comes back', async () => {
  const [own, other] = [workerOf('worker-agent'), workerOf('worker-agent-2')];
  const lost = await wait('worker-killed', { workerId: own.id });
  const kept = await wait('worker-killed', { workerId: other.id });
  const { pid } = await endpoint.reached(lost.nonce);
  process.kill(pid, 'SIGKILL');
  expect(await lost.answer).toMatchObject({ ...LOST, headers: { ...LOST.headers, 'x-runpod-worker-id': own.id } });
  endpoint.openGate('worker-killed');
  expect(await kept.answer).toMatchObject(right(kept));
  await allGoesOn();
});

test('an agent is killed: what came through it fails, what came by the other host does not, and it serves again', async () => {
  const lost = await wait('agent-killed', { workerId: workerOf('worker-agent').id });
  const kept = await wait('agent-killed', { workerId: workerOf('worker-agent-2').id });
  await kill('worker-agent');
  expect(await lost.answer).toMatchObject(LOST);
  endpoint.openGate('agent-killed');
  expect(await kept.answer).toMatchObject(right(kept));
  await allGoesOn();
});

test('a router is killed: its connections are cut, the other router’s requests end, and it serves again', async () => {
  const { id: workerId } = workerOf('worker-agent');
  const lost = await wait('router-killed', { workerId, router: 1 });
  const kept = await wait('router-killed', { workerId, router: 0 });
  await kill('job-router-2');
  expect(await lost.answer).toMatchObject({ kind: 'cut' });
  endpoint.openGate('router-killed');
  expect(await kept.answer).toMatchObject(right(kept));
  await allGoesOn();
  expect(load.verdicts.filter(({ kind, router }) => router === 0 && kind !== 'right')).toEqual([]);
});

test('an agent is frozen: what it had fails once it answers no ping, all else goes on, and it serves again', async () => {
  const frozen = workerOf('worker-agent-2');
  const lost = await wait('frozen', { workerId: frozen.id });
  const kept = await wait('frozen', { workerId: workerOf('worker-agent').id });
  const pid = stack.pidOf('worker-agent-2');
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await lost.answer).toMatchObject(LOST);
    await load.goesOn();
    endpoint.openGate('frozen');
    expect(await kept.answer).toMatchObject(right(kept));
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await allGoesOn();
  expect(load.of('cut')).toEqual([]);
  for (const failed of load.of('ours')) {
    expect(failed).toMatchObject({ code: 'worker-connection-lost', workerId: frozen.id });
  }
});
