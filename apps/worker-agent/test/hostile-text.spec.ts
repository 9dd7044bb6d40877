import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '@berth/testing';
import { Machine } from '../src/runtimes/machine/machine.js';
import { RuntimeError } from '../src/runtimes/runtime-error.js';
import { silentLogger } from '@berth/telemetry';
import { TestAgent, registration } from './bridge/test-agent.js';
import { WorkerClient } from './bridge/worker-client.js';
import { W1, W2, WorkerBench, assigned } from './worker-bench.js';

const HOSTILE = `\0\u001b[2J\u202e${'x'.repeat(5_000)}\ud83d`;
const UNCLEAN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function expectClean(text: string | null | undefined): void {
  expect(text).toContain('xxx');
  expect(text).not.toMatch(UNCLEAN);
  expect(text?.isWellFormed()).toBe(true);
  expect(text?.length).toBeLessThanOrEqual(2_000);
}

describe('hostile text of a worker that', () => {
  let agent: TestAgent;
  let worker: WorkerClient;
  beforeEach(async () => {
    agent = await TestAgent.start(new ManualClock(1_000_000));
    worker = WorkerClient.register(agent, 'w1');
  });
  afterEach(() => agent.close());
  const state = () => agent.bridge.state(registration('w1').workerId);

  test.each([
    ['check', `check=%00${'x'.repeat(5_000)}&reason=no`],
    ['reason', `check=disk&reason=%00%E2%80%AE${'x'.repeat(5_000)}`],
  ])('calls itself unhealthy with a wild %s is clean and bounded', async (_, query) => {
    await worker.call('GET', `/v2/ep1/ping/w1?status=unhealthy&${query}`);
    expectClean(state()?.wantsRecycle);
    expect(state()?.wantsRecycle?.length).toBeLessThan(500);
  });

  test('pings with a wild version is clean and bounded', async () => {
    await worker.ping([], `%00${'x'.repeat(5_000)}`);
    expectClean(state()?.sdkVersion);
    expect(state()?.sdkVersion?.length).toBeLessThanOrEqual(64);
  });
});

describe('hostile text', () => {
  test('in the last lines of a worker and in its exit is clean in the report, and its sibling is told of', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1), assigned(W2));
    bench.machine.end(W1, { code: 137, cause: 'killed', detail: HOSTILE }, [HOSTILE, HOSTILE]);
    await bench.clock.advance(0);
    expectClean(agent.observed(W1)?.reason);
    expect(agent.observed(W2)?.phase).toBe('starting');
  });

  test('of a registry is clean and bounded', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    agent.runtime.failing('prepare', new RuntimeError('image-unreachable', HOSTILE));
    await agent.want(assigned(W1));
    expectClean(agent.observed(W1)?.reason);
  });

  test('in the names of images and devices is clean, and the images are bounded', async () => {
    const machine = new Machine({
      clock: new ManualClock(),
      logger: silentLogger,
      diskFolder: '/',
      vcpus: 1,
      simulatedGpus: null,
      nvidiaSmi: async () => `0, GPU-1, ${HOSTILE}, 1024, [N/A]`,
    });
    const { gpus, images } = await machine.inventory({
      runtime: 'docker',
      images: Array.from({ length: 20_000 }, () => HOSTILE),
    });
    expect(images).toHaveLength(1_000);
    expectClean(images[0]);
    expectClean(gpus[0]?.typeId);
  });
});

describe('the first crash of a worker', () => {
  test('is told with its code and its last lines at once, and for as long as it counts', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1));
    bench.machine.end(W1, { code: 3 }, ['loading the model', 'ValueError: no weights']);
    await bench.clock.advance(0);
    const told =
      '1 failed start: worker exited with code 3; last output: ready | loading the model | ValueError: no weights';
    expect(agent.observed(W1)).toMatchObject({ phase: 'waiting', reason: told });
    await bench.clock.advance(1_000);
    expect(agent.observed(W1)?.phase).toBe('starting');
    expect(agent.observed(W1)?.reason).toContain(told);
    agent.bridge.poll(W1);
    await bench.clock.advance(0);
    expect(agent.observed(W1)).toMatchObject({ phase: 'idle', reason: `before: ${told}` });
    await bench.clock.advance(60_000);
    expect(agent.observed(W1)).toMatchObject({ phase: 'idle', reason: '' });
  });
});
