import { describe, expect, jest, test } from '@jest/globals';
import type { SessionHealth } from '@berth/domain';
import { W1, WorkerBench, assigned, type BenchAgent } from './worker-bench.js';

const GOOD: SessionHealth = { standing: 'in', sinceMs: 0, words: 'GET /ping on port 8000 answered 200' };
const FAILING: SessionHealth = { standing: 'out', sinceMs: 0, words: 'GET /ping on port 8000 answered 500' };

const balanced = (more: Parameters<typeof assigned>[1] = {}) =>
  assigned(W1, {
    endpointType: 'LOAD_BALANCER',
    slots: 3,
    container: { ...assigned(W1).container, env: { PORT: '8000' } },
    ...more,
  });

async function withIdle(bench: WorkerBench, wanted = balanced()): Promise<BenchAgent> {
  const agent = await bench.newAgent();
  await agent.want(wanted);
  agent.balanced.check(W1, GOOD);
  await bench.clock.advance(0);
  expect(agent.observed(W1)).toMatchObject({ phase: 'idle', reason: '' });
  return agent;
}

describe('a load-balanced worker', () => {
  test('is told where it listens and how much it takes, and is idle at its first good check', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(balanced());
    expect(agent.balanced.seen.get(W1)).toMatchObject({
      ...{ port: 8_000, healthPorts: [80, 8_000], healthPath: '/ping', slots: 3 },
      ...{ address: '10.9.0.1', isAwake: true, isLeaving: false, wasReady: false },
    });
    expect(agent.observed(W1)).toMatchObject({ phase: 'starting', port: 8_000, healthPort: 80 });
    agent.balanced.check(W1, GOOD, 8_000);
    await bench.clock.advance(0);
    expect(agent.observed(W1)).toMatchObject({ phase: 'idle', port: 8_000, healthPort: 8_000 });
  });

  test('is busy while it has requests, and tells when the last one ended', async () => {
    const bench = new WorkerBench();
    const agent = await withIdle(bench);
    agent.balanced.carry(W1, 2);
    await bench.clock.advance(250);
    expect(agent.observed(W1)).toMatchObject({ phase: 'busy', runningJobs: 2 });
    agent.balanced.carry(W1, 0, 5_000);
    await bench.clock.advance(250);
    expect(agent.observed(W1)).toMatchObject({ phase: 'idle', runningJobs: 0, lastJobEndedAtMs: 5_000 });
  });

  test('whose checks fail is unhealthy, and after a minute replaced as one that crashed', async () => {
    const bench = new WorkerBench();
    const agent = await withIdle(bench, balanced({ container: { ...balanced().container, args: 'wait' } }));
    agent.balanced.check(W1, { ...FAILING, sinceMs: bench.clock.nowMs() });
    await bench.clock.advance(59_999);
    expect(agent.observed(W1)).toMatchObject({ phase: 'unhealthy', reason: FAILING.words });
    expect(bench.machine.calls).not.toContain('stop w1');
    await bench.clock.advance(1_000);
    expect(bench.machine.calls).toContain('remove w1');
    expect(agent.observed(W1)).toMatchObject({ phase: 'waiting', failedStarts: 1 });
    expect(agent.observed(W1)?.reason).toContain('the health checks of the worker fail');
    await bench.clock.advance(1_000);
    expect(bench.machine.calls.filter((call) => call === 'start w1')).toHaveLength(2);
  });

  test('that never comes up is ended after eight minutes, and the reason says what its checks showed', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(balanced());
    agent.balanced.check(W1, FAILING);
    await bench.clock.advance(479_999);
    expect(agent.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
    await bench.clock.advance(2);
    expect(agent.observed(W1)).toMatchObject({ failedStarts: 1 });
    expect(agent.observed(W1)?.reason).toContain(FAILING.words);
  });

  test('that leaves gets nothing new at once, and keeps what it has until it is done', async () => {
    const bench = new WorkerBench();
    const agent = await withIdle(bench);
    agent.balanced.carry(W1, 1);
    await agent.want(balanced({ intent: 'drained' }));
    expect(agent.balanced.seen.get(W1)?.isLeaving).toBe(true);
    await bench.clock.advance(60_000);
    expect(bench.machine.calls).not.toContain('stop w1');
    agent.balanced.carry(W1, 0, bench.clock.nowMs());
    await bench.clock.advance(250);
    expect(bench.machine.calls).toContain('stop w1');
    expect(agent.balanced.cuts).toEqual([]);
  });

  test('that leaves loses its requests when their time is over', async () => {
    const bench = new WorkerBench();
    const agent = await withIdle(bench);
    agent.balanced.carry(W1, 1);
    await agent.want(balanced({ intent: 'drained', executionTimeoutMs: 20_000 }));
    await bench.clock.advance(19_999);
    expect(agent.balanced.cuts).toEqual([]);
    await bench.clock.advance(1);
    expect(agent.balanced.cuts).toEqual([W1]);
    expect(bench.machine.calls).toContain('stop w1');
  });

  test('that is killed loses its requests before, for what a process leaves behind looks as if it had ended in order', async () => {
    const bench = new WorkerBench();
    const agent = await withIdle(bench);
    agent.balanced.carry(W1, 1);
    const cut = jest.spyOn(agent.balanced, 'cut');
    const kill = jest.spyOn(bench.machine.calls, 'push');
    const drained = agent.reconciler.drainAll(10_000);
    await bench.clock.advance(10_000);
    await bench.clock.advance(250);
    expect(agent.balanced.cuts).toEqual([W1]);
    const killedAt = kill.mock.invocationCallOrder[kill.mock.calls.findIndex(([call]) => call === 'kill w1')];
    expect(cut.mock.invocationCallOrder[0]).toBeLessThan(killedAt ?? 0);
    await bench.clock.advance(1_000);
    await drained;
  });

  test('is paused only without a request, and takes none while it is', async () => {
    const bench = new WorkerBench();
    const agent = await withIdle(bench);
    agent.balanced.carry(W1, 1);
    await agent.want(balanced({ intent: 'paused', pausesAfterIdleMs: 10_000 }));
    await bench.clock.advance(60_000);
    expect(bench.machine.calls).not.toContain('pause w1');
    agent.balanced.carry(W1, 0, bench.clock.nowMs());
    await bench.clock.advance(11_000);
    expect(bench.machine.calls).toContain('pause w1');
    expect(agent.balanced.seen.get(W1)?.isAwake).toBe(false);
    expect(agent.observed(W1)?.phase).toBe('paused');
    await agent.want(balanced());
    expect(bench.machine.calls).toContain('resume w1');
    expect(agent.balanced.seen.get(W1)?.isAwake).toBe(true);
  });

  test('is found again by the next agent as it was, before the control plane has said anything', async () => {
    const bench = new WorkerBench();
    await (await withIdle(bench)).vanish();
    const next = await bench.newAgent();
    expect(next.balanced.seen.get(W1)).toMatchObject({
      ...{ port: 8_000, healthPorts: [80, 8_000], slots: 3, wasReady: true, isAwake: true },
    });
    expect(next.observed(W1)?.phase).toBe('idle');
  });
});

describe('where workers share the ports of their machine', () => {
  test('each is told ports of its own, over what its endpoint says, and keeps them', async () => {
    const bench = new WorkerBench();
    bench.machine.sharesPorts = true;
    const agent = await bench.newAgent();
    await agent.want(balanced());
    const env = bench.machine.containers.get(W1)?.start.env ?? {};
    const [port, healthPort] = [Number(env['PORT']), Number(env['PORT_HEALTH'])];
    expect(new Set([port, healthPort, 8_000]).size).toBe(3);
    expect(agent.observed(W1)).toMatchObject({ port, healthPort });
    expect(agent.balanced.seen.get(W1)).toMatchObject({ port, healthPorts: [healthPort, port] });
    await agent.vanish();
    const next = await bench.newAgent();
    await next.want(balanced());
    expect(next.observed(W1)).toMatchObject({ port, healthPort });
  });

  test('one port is enough where the endpoint says that both are the same', async () => {
    const bench = new WorkerBench();
    bench.machine.sharesPorts = true;
    const agent = await bench.newAgent();
    const container = { ...balanced().container, env: { PORT: '8000', PORT_HEALTH: '8000' } };
    await agent.want(balanced({ container }));
    const env = bench.machine.containers.get(W1)?.start.env ?? {};
    expect(env['PORT_HEALTH']).toBe(env['PORT']);
  });
});
