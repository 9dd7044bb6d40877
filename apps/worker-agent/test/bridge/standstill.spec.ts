import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeJson } from '@berth/domain';
import { ManualClock, eventually } from '@berth/testing';
import { TestAgent, registration } from './test-agent.js';
import { W1, WorkerBench, assigned } from '../worker-bench.js';
import { WorkerClient, type Answer } from './worker-client.js';

let clock: ManualClock;
let agent: TestAgent;
let worker: WorkerClient;

beforeEach(async () => {
  clock = new ManualClock(1_000_000);
  agent = await TestAgent.start(clock);
  worker = WorkerClient.register(agent, 'w1');
});
afterEach(() => agent.close());

const state = () => agent.bridge.state(registration('w1').workerId);
const submit = (): string => agent.router.submit({ input: encodeJson({ n: 1 }) });
const idOf = (answer: Answer): string => (answer.json as { id: string }).id;
const UNHEARD = 'its worker never said that it had the job';

/** A poll that is parked at the bridge, and at the router. */
async function park(): Promise<{ readonly polling: Promise<Answer> }> {
  const takes = agent.router.countOf('take');
  const polling = worker.take();
  polling.catch(() => undefined);
  await eventually(() => expect(agent.router.countOf('take')).toBe(takes + 1));
  return { polling };
}

/** It runs a job and says so, as a healthy worker does. */
async function runOne(): Promise<void> {
  const jobId = submit();
  expect(idOf(await worker.take())).toBe(jobId);
  await worker.ping([jobId]);
  await worker.done(jobId, { output: 1 });
}

async function passWithPings(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await agent.pass(Math.min(left, 5_000));
    await worker.ping([]);
  }
}

describe('a worker that stops asking', () => {
  test('is seen to since its last poll has ended, though it pings on', async () => {
    const { polling } = await park();
    await agent.pass(17_000);
    expect(state()?.notAskingSinceMs).toBeNull();
    let isHeld = true;
    void polling.then(() => (isHeld = false));
    while (isHeld) await agent.pass(250);
    const endedAtMs = clock.nowMs();
    await passWithPings(20_000);
    expect(state()?.notAskingSinceMs).toBeGreaterThan(endedAtMs - 1_000);
    expect(state()?.notAskingSinceMs).toBeLessThanOrEqual(endedAtMs);
    await park();
    await agent.pass(500);
    expect(state()?.notAskingSinceMs).toBeNull();
  });

  test('is not seen while it has a job, and is again once that has ended', async () => {
    const jobId = submit();
    expect(idOf(await worker.take())).toBe(jobId);
    await worker.ping([jobId]);
    await agent.pass(30_000);
    expect(state()?.notAskingSinceMs).toBeNull();
    await worker.done(jobId, { output: 1 });
    expect(state()?.notAskingSinceMs).toBeGreaterThan(clock.nowMs() - 1_000);
  });
});

describe('a job that is given to a worker that stands still', () => {
  test('comes back without a charge when nothing more is heard of the worker, which is to be killed', async () => {
    const { polling } = await park();
    await worker.ping();
    await agent.pass(10_000);
    const jobId = submit();
    expect(idOf(await polling)).toBe(jobId);
    await agent.pass(24_000);
    expect(agent.router.losses).toEqual([]);
    await agent.pass(2_000);
    await eventually(() => {
      expect(agent.router.losses).toEqual([{ jobId, attempt: 1, reason: UNHEARD, isCharged: false }]);
    });
    expect(agent.eventsOf('kill-needed')[0]).toMatchObject({ reason: UNHEARD });
    expect(agent.router.stateOf(jobId)).toBe('queued');
  });

  test('comes back without a charge also where a process beside it pings on', async () => {
    await runOne();
    const { polling } = await park();
    const jobId = submit();
    expect(idOf(await polling)).toBe(jobId);
    await passWithPings(24_000);
    expect(agent.router.losses).toEqual([]);
    await passWithPings(2_000);
    await eventually(() => {
      expect(agent.router.losses).toEqual([{ jobId, attempt: 1, reason: UNHEARD, isCharged: false }]);
    });
    expect(agent.eventsOf('kill-needed')).toHaveLength(1);
  });

  test('is not taken from one whose pings have never named a job', async () => {
    await worker.ping();
    const jobId = submit();
    expect(idOf(await worker.take())).toBe(jobId);
    await passWithPings(60_000);
    expect(agent.router.losses).toEqual([]);
  });

  test('is not taken from one that never pings', async () => {
    const jobId = submit();
    expect(idOf(await worker.take())).toBe(jobId);
    await agent.pass(60_000);
    expect(agent.router.losses).toEqual([]);
  });

  test('is not taken from one whose main loop is busy with a job before it', async () => {
    await runOne();
    const [first, second] = [submit(), submit()];
    expect(idOf(await worker.take())).toBe(first);
    await worker.ping([first]);
    expect(idOf(await worker.take('&job_in_progress=1'))).toBe(second);
    for (let passed = 0; passed < 60_000; passed += 5_000) {
      await agent.pass(5_000);
      await worker.ping([first]);
    }
    expect(agent.router.losses).toEqual([]);
    // Only now can it read the other.
    await worker.done(first, { output: 1 });
    await agent.pass(500);
    expect(agent.eventsOf('kill-needed')).toEqual([]);
    await worker.ping([second]);
    await worker.done(second, { output: 2 });
    await eventually(() => expect(agent.router.ended.get(second)).toMatchObject({ output: 2 }));
    expect(agent.router.losses).toEqual([]);
  });

  test('is not taken before its silence is over from one whose handler keeps its pings back', async () => {
    await runOne();
    const { polling } = await park();
    await agent.pass(1_000);
    await worker.ping();
    const jobId = submit();
    expect(idOf(await polling)).toBe(jobId);
    await agent.pass(34_000);
    expect(agent.eventsOf('kill-needed')).toEqual([]);
    await worker.ping([jobId]);
    await agent.pass(30_000);
    await worker.done(jobId, { output: 1 });
    expect(agent.router.losses).toEqual([]);
  });

  test('is charged once that has happened to it thrice', async () => {
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const { polling } = await park();
      await worker.ping();
      if (attempt === 1) submit();
      await polling;
      await agent.pass(36_000);
      await eventually(() => expect(agent.router.losses).toHaveLength(attempt));
      await agent.bridge.unregister(registration('w1').workerId, { reason: 'killed', isFault: false });
      worker = WorkerClient.register(agent, 'w1');
    }
    expect(agent.router.losses.map(({ isCharged }) => isCharged)).toEqual([false, false, false, true]);
  });
});

describe('an idle worker that stands still', () => {
  test('is replaced in time for a job that comes a minute later, also where it ignores SIGTERM', async () => {
    const bench = new WorkerBench();
    const host = await bench.newAgent();
    await host.want(assigned(W1));
    host.bridge.poll(W1);
    await bench.clock.advance(0);
    const first = bench.machine.containers.get(W1)?.containerId;
    // The poll that it held when it froze has come to its end.
    await bench.clock.advance(22_000);
    host.bridge.set(W1, { notAskingSinceMs: bench.clock.nowMs() });
    await bench.clock.advance(24_000);
    expect(host.observed(W1)?.phase).toBe('idle');
    await bench.clock.advance(9_000);
    expect(bench.machine.calls).toContain('kill w1');
    expect(bench.machine.containers.get(W1)?.containerId).not.toBe(first);
    expect(host.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
  });
});
