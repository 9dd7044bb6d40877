import type { JobId, WorkerId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { RuntimeError } from '../src/runtimes/runtime-error.js';
import { W1, WorkerBench, assigned, type BenchAgent } from './worker-bench.js';

const JOB = { jobId: 'job1' as JobId, attempt: 1 };
const RUNNING = assigned(W1, { container: { ...assigned(W1).container, args: 'wait' } });
const PAUSED = { ...RUNNING, intent: 'paused', pausesAfterIdleMs: 5_000 } as const;

async function idle(bench: WorkerBench): Promise<BenchAgent> {
  const agent = await bench.newAgent();
  await agent.want(RUNNING);
  agent.bridge.poll(W1);
  await bench.clock.advance(0);
  return agent;
}

async function paused(bench: WorkerBench): Promise<BenchAgent> {
  const agent = await idle(bench);
  await agent.want(PAUSED);
  expect(agent.observed(W1)).toMatchObject({ phase: 'paused', reason: 'paused (flashboot)' });
  bench.machine.calls.length = 0;
  return agent;
}

describe('a worker that is to be paused', () => {
  test('is frozen with its polls held, and goes on in the same container when it is wanted', async () => {
    const bench = new WorkerBench();
    const agent = await paused(bench);
    expect(agent.bridge.held.has(W1)).toBe(true);
    await bench.clock.advance(3_600_000);
    expect(bench.machine.calls).toEqual([]);
    await agent.want(RUNNING);
    expect(bench.machine.calls).toEqual(['resume w1']);
    expect(agent.bridge.held.has(W1)).toBe(false);
    expect(agent.observed(W1)?.phase).toBe('idle');
  });

  test('is frozen as long after its last job as was said', async () => {
    const bench = new WorkerBench();
    const agent = await idle(bench);
    agent.bridge.set(W1, { runningJobs: 1 });
    agent.bridge.tell({ kind: 'job-started', workerId: W1, ...JOB });
    await agent.want(PAUSED);
    await bench.clock.advance(60_000);
    expect(agent.observed(W1)?.phase).toBe('busy');
    agent.bridge.set(W1, { runningJobs: 0, lastJobEndedAtMs: bench.clock.nowMs() });
    agent.bridge.tell({ kind: 'job-ended', workerId: W1, ...JOB, outcome: 'completed' });
    await bench.clock.advance(4_000);
    expect(agent.observed(W1)?.phase).toBe('idle');
    await bench.clock.advance(1_000);
    expect(agent.observed(W1)?.phase).toBe('paused');
  });

  test('takes jobs on where its host cannot freeze it, and is tried again', async () => {
    const bench = new WorkerBench();
    const agent = await idle(bench);
    agent.runtime.failing('pause', new RuntimeError('freeze-failed', 'No freezer.'));
    await agent.want(PAUSED);
    expect(agent.observed(W1)).toMatchObject({
      phase: 'idle',
      reason: 'it could not be paused: freeze-failed: No freezer.',
    });
    expect(agent.bridge.held.has(W1)).toBe(false);
    agent.runtime.failing('pause', null);
    await bench.clock.advance(60_000);
    expect(agent.observed(W1)?.phase).toBe('paused');
  });
});

describe('a paused worker', () => {
  test('is found again by the next agent, which gives it no job until it is wanted', async () => {
    const bench = new WorkerBench();
    await (await paused(bench)).vanish();
    const successor = await bench.newAgent();
    expect(successor.bridge.held.has(W1)).toBe(true);
    await successor.want(PAUSED);
    await bench.clock.advance(600_000);
    expect(successor.observed(W1)?.phase).toBe('paused');
    expect(bench.machine.calls).toEqual([]);
    await successor.want(RUNNING);
    expect(bench.machine.calls).toEqual(['resume w1']);
    expect(successor.observed(W1)?.phase).toBe('idle');
  });

  test('goes on when a wake names it, and is frozen again where the list says so; no other is touched', async () => {
    const bench = new WorkerBench();
    const agent = await paused(bench);
    agent.reconciler.resume(['w9' as WorkerId]);
    await bench.clock.advance(0);
    expect(bench.machine.calls).toEqual([]);
    agent.reconciler.resume([W1]);
    await bench.clock.advance(0);
    expect(bench.machine.calls).toEqual(['resume w1']);
    expect(agent.observed(W1)?.phase).toBe('idle');
    await agent.want(PAUSED);
    await bench.clock.advance(5_000);
    expect(bench.machine.calls).toEqual(['resume w1', 'pause w1']);
    await agent.want({ ...RUNNING, intent: 'drained' });
    const calls = [...bench.machine.calls];
    agent.reconciler.resume([W1]);
    await bench.clock.advance(0);
    expect(bench.machine.calls).toEqual(calls);
    expect(agent.observed(W1)?.phase).toBe('removed');
  });

  test('is drained when it is to leave: it goes on, hears SIGTERM, and is gone', async () => {
    const bench = new WorkerBench();
    const agent = await paused(bench);
    await agent.want({ ...RUNNING, intent: 'drained' });
    expect(bench.machine.calls).toEqual(['stop w1', 'resume w1', 'remove w1']);
    expect(agent.bridge.drained).toEqual([W1]);
    expect(agent.observed(W1)?.phase).toBe('removed');
  });

  test('that ends is gone, and none is started in its place', async () => {
    const bench = new WorkerBench();
    const agent = await paused(bench);
    bench.machine.end(W1, { code: 137, cause: 'killed' });
    await bench.clock.advance(1_000);
    expect(agent.observed(W1)?.phase).toBe('removed');
    expect(bench.machine.calls).toEqual(['remove w1']);
  });

  test('that somebody else froze goes on', async () => {
    const bench = new WorkerBench();
    const agent = await idle(bench);
    await agent.runtime.freezer.pause(W1);
    bench.machine.calls.length = 0;
    await bench.clock.advance(1_000);
    expect(bench.machine.calls).toEqual(['resume w1']);
    expect(agent.observed(W1)?.phase).toBe('idle');
  });
});
