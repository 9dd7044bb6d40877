import { STRAY_GRACE_MS, type JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { silentLogger } from '@berth/telemetry';
import { RuntimeError } from '../src/runtimes/runtime-error.js';
import { noteRemoved } from '../src/worker-reconciler/note-removed.js';
import { FakeBridge } from './fake-bridge.js';
import { W1, W2, WorkerBench, assigned, type BenchAgent } from './worker-bench.js';

const JOB = { jobId: 'job1' as JobId, attempt: 1 };

async function withRunning(bench: WorkerBench): Promise<BenchAgent> {
  const agent = await bench.newAgent();
  await agent.want(assigned(W1));
  agent.bridge.poll(W1);
  await bench.clock.advance(0);
  expect(agent.observed(W1)?.phase).toBe('idle');
  return agent;
}

describe('start', () => {
  test('an assigned worker is prepared, registered, started, and ready once it asks for a job', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1));
    expect(bench.machine.calls).toEqual(['prepare local/echo', 'start w1']);
    expect(agent.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0, startedAtMs: bench.clock.nowMs() });
    const env = bench.machine.containers.get(W1)?.start.env;
    expect(env).toEqual({ GREETING: 'hello', RUNPOD_AI_API_KEY: agent.bridge.registrations.get(W1)?.token });
    agent.bridge.poll(W1);
    await bench.clock.advance(0);
    expect(agent.observed(W1)?.phase).toBe('idle');
    agent.bridge.set(W1, { runningJobs: 1 });
    agent.bridge.tell({ kind: 'job-started', workerId: W1, ...JOB });
    await bench.clock.advance(250);
    expect(agent.observed(W1)).toMatchObject({ phase: 'busy', runningJobs: 1 });
  });

  test('a missing image is reported at once, with its reason, and tried again at the pace of a crash loop', async () => {
    const bench = new WorkerBench();
    bench.machine.images.clear();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1));
    expect(agent.observed(W1)).toMatchObject({ phase: 'waiting', failedStarts: 1 });
    expect(agent.observed(W1)?.reason).toContain('image-missing: There is no image local/echo.');
    const tries = [];
    for (let second = 1; second <= 16; second += 1) {
      await bench.clock.advance(1_000);
      tries.push(agent.observed(W1)?.failedStarts);
    }
    expect(tries).toEqual([2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5]);
    expect(agent.observed(W1)?.phase).toBe('unhealthy');
    bench.machine.images.add('local/echo');
    await bench.clock.advance(16_000);
    expect(bench.machine.containers.get(W1)?.exit).toBeNull();
  });

  test('a start that fails leaves no registration and no device behind', async () => {
    const bench = new WorkerBench([{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 0 }]);
    const agent = await bench.newAgent();
    agent.runtime.failing('start', new RuntimeError('disk-full', 'No room.'));
    const resources = { ...assigned(W1).resources, gpuTypeId: 'NVIDIA L4', gpuCount: 1 };
    await agent.want(assigned(W1, { resources }));
    expect(agent.observed(W1)?.reason).toContain('disk-full: No room.');
    expect(agent.bridge.registrations.size).toBe(0);
    agent.runtime.failing('start', null);
    await agent.want(assigned(W2, { resources }));
    expect(bench.machine.containers.get(W2)?.gpuIndexes).toEqual([0]);
  });

  test('arguments that no shell could split are a failed start', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    const { container } = assigned(W1);
    await agent.want(assigned(W1, { container: { ...container, args: 'say "hello' } }));
    expect(agent.observed(W1)?.reason).toContain('The arguments cannot be read');
  });

  test.each([
    [{ env: { KEY: 'hid\0den' } }, 'The variable "KEY" cannot be set'],
    [{ env: { '': 'hidden' } }, 'The variable "" cannot be set'],
    [{ env: { 'A=B': 'hidden' } }, 'The variable "A=B" cannot be set'],
    [{ args: 'hid\0den' }, 'The arguments cannot be read'],
  ])(
    'what no process could be given (%j) is a failed start, and its reason quotes nothing of it',
    async (more, why) => {
      const bench = new WorkerBench();
      const agent = await bench.newAgent();
      await agent.want(assigned(W1, { container: { ...assigned(W1).container, ...more } }));
      expect(agent.observed(W1)).toMatchObject({ phase: 'waiting', failedStarts: 1 });
      expect(agent.observed(W1)?.reason).toContain(why);
      expect(agent.observed(W1)?.reason).not.toContain('den');
      expect(bench.machine.calls).toEqual(['prepare local/echo']);
    },
  );

  test('no device is given twice: the second worker waits until the first is gone', async () => {
    const bench = new WorkerBench([{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 0 }]);
    const resources = { ...assigned(W1).resources, gpuTypeId: 'NVIDIA L4', gpuCount: 1 };
    const first = assigned(W1, { resources, container: { ...assigned(W1).container, args: 'wait' } });
    const agent = await bench.newAgent();
    await agent.want(first, assigned(W2, { resources }));
    expect(agent.observed(W2)?.reason).toContain(
      "no-such-device: needs 1 × NVIDIA L4, but 0 of this host's 1 are free",
    );
    await agent.want({ ...first, intent: 'drained' }, assigned(W2, { resources }));
    await bench.clock.advance(1_000);
    expect(bench.machine.containers.get(W2)?.gpuIndexes).toEqual([0]);
  });

  test('a load-balanced worker says where it listens, by its own variables, and one with a queue does not', async () => {
    const agent = await new WorkerBench().newAgent();
    const { container } = assigned(W1);
    const balanced = { ...container, env: { PORT: '8080', PORT_HEALTH: '8081' } };
    await agent.want(
      assigned(W1, { endpointType: 'LOAD_BALANCER', container: balanced }),
      assigned(W2, { container: balanced }),
    );
    expect(agent.observed(W1)).toMatchObject({ port: 8080, healthPort: 8081 });
    expect(agent.observed(W2)).not.toHaveProperty('port');
  });

  test('a worker that stops being wanted while its image is prepared is not started', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    agent.reconciler.setDesired([assigned(W1)], 'LOCAL-1');
    agent.reconciler.setDesired([], 'LOCAL-1');
    await bench.clock.advance(60_000);
    expect(bench.machine.containers.size).toBe(0);
    expect(agent.reconciler.observed()).toEqual([]);
    expect(bench.records.list().size).toBe(0);
  });
});

describe('a start that does not come to an end', () => {
  async function withStuck(bench: WorkerBench): Promise<BenchAgent> {
    const agent = await bench.newAgent();
    agent.runtime.isStuck = true;
    await agent.want(assigned(W1));
    expect(bench.machine.calls).toEqual(['prepare local/echo', 'start w1']);
    return agent;
  }

  test('is broken off at once when nobody wants the worker any more, and nothing of it is left', async () => {
    const bench = new WorkerBench();
    const agent = await withStuck(bench);
    await agent.want();
    expect(agent.reconciler.observed()).toEqual([]);
    expect(agent.bridge.registrations.size).toBe(0);
    expect(agent.bridge.departures).toMatchObject([{ workerId: W1, isFault: false }]);
    expect(bench.records.list().size).toBe(0);
  });

  test.each(['drained', 'paused'] as const)(
    'is broken off when the worker shall be %s, as no failure',
    async (intent) => {
      const bench = new WorkerBench();
      const agent = await withStuck(bench);
      await agent.want(assigned(W1, { intent }));
      expect(agent.observed(W1)).toMatchObject({ phase: 'removed', failedStarts: 0, reason: '' });
    },
  );

  test('that was broken off is begun anew, without a delay, when the worker is wanted again', async () => {
    const bench = new WorkerBench();
    const agent = await withStuck(bench);
    agent.reconciler.setDesired([], 'LOCAL-1');
    agent.runtime.isStuck = false;
    await agent.want(assigned(W1));
    expect(agent.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
    expect(bench.machine.containers.get(W1)?.exit).toBeNull();
  });

  test('does not keep an agent that ends, and costs the worker nothing with the next one', async () => {
    const bench = new WorkerBench();
    await (await withStuck(bench)).vanish();
    const successor = await bench.newAgent();
    await successor.want(assigned(W1));
    expect(successor.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
  });

  test('does not keep an agent that takes its workers along', async () => {
    const bench = new WorkerBench();
    const agent = await withStuck(bench);
    const drained = agent.reconciler.drainAll(60_000);
    await bench.clock.advance(1_000);
    await drained;
    expect(agent.observed(W1)).toMatchObject({ phase: 'removed', failedStarts: 0 });
  });
});

test('an agent that ends while it looks at a worker begins no preparation of it', async () => {
  const bench = new WorkerBench();
  const agent = await bench.newAgent();
  agent.reconciler.setDesired([assigned(W1)], 'LOCAL-1');
  await agent.reconciler.stop();
  await bench.clock.advance(0);
  expect(bench.machine.calls).toEqual([]);
});

describe('what keeps the host from beginning with a worker', () => {
  const REASON = 'its node has not begun with it: FailedMount: no such folder';

  async function withHeldUp(bench: WorkerBench): Promise<BenchAgent> {
    const agent = await bench.newAgent();
    agent.runtime.isStuck = true;
    await agent.want(assigned(W1));
    agent.runtime.heldUp(REASON);
    return agent;
  }

  test('stands in its reason, and in its log, while its start goes on', async () => {
    const bench = new WorkerBench();
    const agent = await withHeldUp(bench);
    const reason = `the container is being started; ${REASON}`;
    expect(agent.observed(W1)).toMatchObject({ phase: 'starting', reason, failedStarts: 0 });
    expect(agent.logs.told).toContain(`w1: starting: ${reason}`);
    agent.runtime.heldUp(null);
    expect(agent.observed(W1)?.reason).toBe('the container is being started');
  });

  test('is forgotten with the start', async () => {
    const bench = new WorkerBench();
    const agent = await withHeldUp(bench);
    const { heldUp } = agent.runtime;
    agent.reconciler.setDesired([], 'LOCAL-1');
    heldUp('of a start that nobody waits for');
    agent.runtime.isStuck = false;
    await agent.want(assigned(W1));
    expect(agent.observed(W1)).toMatchObject({ reason: 'the worker has not asked for a job yet' });
    bench.machine.end(W1, { code: 3 });
    await bench.clock.advance(1_000);
    expect(agent.observed(W1)?.reason).not.toContain('its node has not begun');
  });
});

describe('a worker that the control plane could not open', () => {
  const unopenable = { unopenable: 'its environment variables cannot be opened', restarts: 1 };
  const sealed = { ...assigned(W1).container, env: {} };

  test('keeps the container that it has, also when it shall be restarted or is slow to begin', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1));
    await agent.want(assigned(W1, { ...unopenable, container: sealed }), assigned(W2));
    await bench.clock.advance(3_600_000);
    expect(bench.machine.calls.filter((call) => call.endsWith(W1))).toEqual(['start w1']);
    expect(agent.observed(W1)?.reason).toContain(unopenable.unopenable);
  });

  test('is not started without its variables, says why, and starts once it can be opened', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1, { ...unopenable, container: sealed }), assigned(W2));
    await bench.clock.advance(60_000);
    expect(bench.machine.calls).toEqual(['prepare local/echo', 'start w2']);
    expect(agent.observed(W1)).toMatchObject({ phase: 'waiting', reason: unopenable.unopenable });
    await agent.want(assigned(W1), assigned(W2));
    expect(bench.machine.containers.get(W1)?.start.env).toMatchObject({ GREETING: 'hello' });
  });

  test('leaves when it is told to', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1, { container: { ...assigned(W1).container, args: 'wait' } }));
    await agent.want(assigned(W1, { ...unopenable, container: sealed, intent: 'drained' }));
    await bench.clock.advance(1_000);
    expect(bench.machine.containers.size).toBe(0);
  });
});

describe('a worker of which the control plane says nothing that can be read', () => {
  const hold = async (agent: BenchAgent): Promise<void> => {
    agent.reconciler.setDesired([assigned(W2)], 'LOCAL-1', (workerId) => workerId === W1);
    await agent.bench.clock.advance(STRAY_GRACE_MS * 3);
  };

  test('goes on as it was, and the others are heard', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    await hold(agent);
    expect(agent.observed(W1)?.phase).toBe('idle');
    expect(bench.machine.containers.get(W1)?.exit).toBeNull();
    expect(bench.machine.containers.get(W2)?.exit).toBeNull();
  });

  test('is left running by an agent that has never heard of it, and drained once it is unwanted', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    const agent = await bench.newAgent();
    await hold(agent);
    expect(bench.machine.containers.get(W1)?.exit).toBeNull();
    await agent.want(assigned(W2));
    await bench.clock.advance(STRAY_GRACE_MS * 3);
    expect(bench.machine.containers.has(W1)).toBe(false);
  });

  test('is not started where there is none of it', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await hold(agent);
    expect(bench.machine.containers.has(W1)).toBe(false);
    expect(agent.observed(W1)).toBeNull();
  });
});

describe('crash', () => {
  test('is reported with exit code and last output, its jobs are given back at a charge, and it starts anew', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    const token = agent.bridge.registrations.get(W1)?.token;
    agent.bridge.set(W1, { runningJobs: 1 });
    bench.machine.end(W1, { code: 137, cause: 'out-of-memory', detail: 'killed, out of memory' }, [
      'loading',
      'half way',
    ]);
    await bench.clock.advance(0);
    expect(agent.bridge.departures).toMatchObject([{ workerId: W1, runningJobs: 1, isFault: true }]);
    const reason = 'worker exited with code 137: killed, out of memory';
    expect(agent.bridge.departures[0]?.reason).toBe(reason);
    expect(agent.observed(W1)).toMatchObject({
      phase: 'waiting',
      failedStarts: 1,
      reason: `1 failed start: ${reason}; last output: ready | loading | half way`,
    });
    await bench.clock.advance(1_000);
    expect(agent.observed(W1)?.phase).toBe('starting');
    expect(agent.bridge.registrations.get(W1)?.token).not.toBe(token);
  });

  test('of a container that vanished is seen within a second', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    bench.machine.containers.delete(W1);
    await bench.clock.advance(1_000);
    expect(agent.observed(W1)?.reason).toContain('the container vanished');
    await bench.clock.advance(1_000);
    expect(bench.machine.containers.has(W1)).toBe(true);
  });
});

describe('where a container is gone only when its host was taken from it', () => {
  test('one that vanishes costs its jobs nothing', async () => {
    const bench = new WorkerBench();
    bench.machine.isTakenAwayWhenGone = true;
    const agent = await withRunning(bench);
    agent.bridge.set(W1, { runningJobs: 2 });
    bench.machine.containers.delete(W1);
    await bench.clock.advance(1_000);
    expect(agent.bridge.departures).toMatchObject([{ workerId: W1, runningJobs: 2, isFault: false }]);
  });

  test.each([true, false])(
    'one that vanished while no agent looked (%s) is charged as its runtime says',
    async (is) => {
      const bench = new WorkerBench();
      bench.machine.isTakenAwayWhenGone = is;
      await (await withRunning(bench)).vanish();
      bench.machine.containers.clear();
      const bridge = new FakeBridge();
      bridge.runningWhenRestored = 2;
      const after = await bench.newAgent(bridge);
      // Jobs of whom the bridge hears nothing are charged.
      const taken = [{ workerId: W1, runningJobs: 2, isFault: false, reason: 'its host was taken from it' }];
      expect(bridge.departures).toEqual(is ? taken : []);
      await after.want(assigned(W1));
      expect(after.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
    },
  );
});

describe('drain', () => {
  test('parked polls are answered before SIGTERM, a running job is waited for, then nothing is left', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    agent.bridge.set(W1, { runningJobs: 1, latestDeadlineAtMs: bench.clock.nowMs() + 200_000 });
    bench.machine.calls.length = 0;
    await agent.want(assigned(W1, { intent: 'drained' }));
    expect(agent.bridge.drained).toEqual([W1]);
    expect(bench.machine.calls).toEqual(['stop w1']);
    expect(agent.bridge.askedToEnd).toEqual([W1]);
    expect(agent.observed(W1)?.phase).toBe('draining');
    await bench.clock.advance(150_000);
    expect(bench.machine.calls).toEqual(['stop w1']);
    agent.bridge.set(W1, { runningJobs: 0, latestDeadlineAtMs: null });
    bench.machine.end(W1);
    await bench.clock.advance(0);
    expect(bench.machine.calls).toEqual(['stop w1', 'remove w1']);
    expect(agent.observed(W1)?.phase).toBe('removed');
    expect(agent.bridge.departures).toMatchObject([{ runningJobs: 0, isFault: false }]);
    await agent.want();
    expect(agent.reconciler.observed()).toEqual([]);
    expect(bench.records.list().size).toBe(0);
  });

  test('a worker that does not leave is killed after its job could have ended, and the job given back', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    agent.bridge.set(W1, { runningJobs: 1, latestDeadlineAtMs: bench.clock.nowMs() + 60_000 });
    await agent.want(assigned(W1, { intent: 'drained' }));
    await bench.clock.advance(69_000);
    expect(bench.machine.calls).not.toContain('kill w1');
    await bench.clock.advance(2_000);
    expect(bench.machine.calls).toContain('kill w1');
    expect(agent.bridge.departures).toMatchObject([{ runningJobs: 1, isFault: false }]);
    expect(agent.observed(W1)?.phase).toBe('removed');
  });

  test('a worker that asks to be replaced is drained and started anew, and that is no failure', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    agent.bridge.set(W1, { wantsRecycle: 'stopPod' });
    agent.bridge.tell({ kind: 'recycle-wanted', workerId: W1, reason: 'stopPod' });
    await bench.clock.advance(0);
    expect(agent.bridge.drained).toEqual([W1]);
    bench.machine.end(W1);
    await bench.clock.advance(0);
    expect(agent.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
    expect(bench.machine.calls.filter((call) => call === 'start w1')).toHaveLength(2);
  });

  test('a restart that was asked for replaces the container and forgets earlier failures', async () => {
    const bench = new WorkerBench();
    bench.machine.images.clear();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1));
    await bench.clock.advance(20_000);
    expect(agent.observed(W1)?.phase).toBe('unhealthy');
    bench.machine.images.add('local/echo');
    await agent.want(assigned(W1, { restarts: 1 }));
    expect(agent.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
  });
});

test('a job that does not let go costs its container, but no attempt of its siblings', async () => {
  const bench = new WorkerBench();
  const agent = await withRunning(bench);
  agent.bridge.set(W1, { runningJobs: 2 });
  agent.bridge.tell({ kind: 'kill-needed', workerId: W1, reason: 'a cancelled job did not stop' });
  await bench.clock.advance(0);
  expect(bench.machine.calls).toContain('kill w1');
  expect(agent.bridge.departures).toMatchObject([
    { runningJobs: 2, isFault: false, reason: 'a cancelled job did not stop' },
  ]);
  expect(agent.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
});

describe('a new life of the agent', () => {
  test('takes its workers up again: same token, nothing started or stopped, still ready', async () => {
    const bench = new WorkerBench();
    const before = await withRunning(bench);
    const registration = before.bridge.registrations.get(W1);
    await before.vanish();
    bench.machine.calls.length = 0;

    const after = await bench.newAgent();
    const { facts, ...admission } = registration ?? {};
    expect(facts).toMatchObject({ env: { GREETING: 'hello' } });
    expect(after.bridge.restored).toEqual([admission]);
    await after.want(assigned(W1));
    after.bridge.poll(W1);
    await bench.clock.advance(600_000);
    expect(bench.machine.calls).toEqual([]);
    expect(after.observed(W1)).toMatchObject({ phase: 'idle', failedStarts: 0 });
  });

  test('replaces a worker that knows another address of the bridge, and that is no failure', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    const after = await bench.newAgent(new FakeBridge('127.0.0.1:9998'));
    await after.want(assigned(W1));
    expect(after.observed(W1)).toMatchObject({
      phase: 'draining',
      reason: 'the address of the bridge has changed since the worker was started',
    });
    expect(bench.machine.calls).toContain('stop w1');
    bench.machine.end(W1);
    await bench.clock.advance(0);
    expect(after.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
    after.bridge.poll(W1);
    await after.vanish();

    const next = await bench.newAgent(new FakeBridge('127.0.0.1:9998'));
    await next.want(assigned(W1));
    expect(next.observed(W1)?.phase).toBe('idle');
  });

  test('replaces a worker that calls nobody for a minute, but not one in the middle of a job', async () => {
    const bench = new WorkerBench();
    const before = await withRunning(bench);
    await before.want(assigned(W1), assigned(W2));
    before.bridge.poll(W2);
    await bench.clock.advance(0);
    await before.vanish();
    bench.machine.calls.length = 0;
    const after = await bench.newAgent();
    await after.want(assigned(W1), assigned(W2));
    after.bridge.set(W2, { runningJobs: 1 });
    await bench.clock.advance(59_000);
    expect(bench.machine.calls).toEqual([]);
    await bench.clock.advance(40_000);
    expect(bench.machine.calls).toEqual(['stop w1', 'kill w1', 'remove w1', 'prepare local/echo', 'start w1']);
    expect(after.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
  });

  test('keeps a worker that was leaving from getting jobs', async () => {
    const bench = new WorkerBench();
    const before = await withRunning(bench);
    before.bridge.set(W1, { runningJobs: 1, latestDeadlineAtMs: bench.clock.nowMs() + 600_000 });
    await before.want(assigned(W1, { intent: 'drained' }));
    await before.vanish();
    const after = await bench.newAgent();
    expect(after.bridge.drained).toEqual([W1]);
  });

  test('counts the end of a worker that died meanwhile, and starts it anew', async () => {
    const bench = new WorkerBench();
    const before = await withRunning(bench);
    await before.vanish();
    bench.machine.end(W1, { code: 1 }, ['Traceback']);
    const after = await bench.newAgent();
    expect(after.bridge.restored).toMatchObject([{ workerId: W1 }]);
    await after.want(assigned(W1));
    expect(after.observed(W1)?.reason).toContain('exited with code 1; last output: ready | Traceback');
    await bench.clock.advance(1_000);
    expect(after.observed(W1)?.phase).toBe('starting');
  });

  test('says of the jobs of a worker that died meanwhile how it ended, without waiting for what is wanted', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    bench.machine.end(W1, { code: 139, cause: 'killed', detail: 'ended by signal 11 (SIGSEGV)' });
    const bridge = new FakeBridge();
    bridge.runningWhenRestored = 2;
    await bench.newAgent(bridge);
    expect(bridge.departures).toMatchObject([
      { runningJobs: 2, isFault: true, reason: 'worker exited with code 139: ended by signal 11 (SIGSEGV)' },
    ]);
  });

  test('charges no job for a worker that it had killed for the sake of another', async () => {
    const bench = new WorkerBench();
    const before = await withRunning(bench);
    before.bridge.set(W1, { runningJobs: 2 });
    before.bridge.failsToUnregister = true;
    before.bridge.tell({ kind: 'kill-needed', workerId: W1, reason: 'job a did not stop' });
    await bench.clock.advance(0);
    expect(bench.machine.calls).toContain('kill w1');
    await before.vanish();
    const bridge = new FakeBridge();
    bridge.runningWhenRestored = 2;
    await bench.newAgent(bridge);
    expect(bridge.departures).toMatchObject([{ runningJobs: 2, isFault: false, reason: 'job a did not stop' }]);
  });

  test('charges no job for a container that its host removed because it ran outside of its network', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    const reason = 'its host moved its worker into a confined network';
    const removed = [...bench.machine.containers.values()].map(({ containerId }) => ({ workerId: W1, containerId }));
    await noteRemoved(bench.records, removed, { reason, logger: silentLogger });
    bench.machine.containers.clear();
    const bridge = new FakeBridge();
    bridge.runningWhenRestored = 2;
    const after = await bench.newAgent(bridge);
    expect(bridge.departures).toEqual([{ workerId: W1, runningJobs: 2, isFault: false, reason }]);
    await after.want(assigned(W1));
    expect(after.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
  });

  test('says nothing of another life of a worker than the one that was removed', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    const removed = [{ workerId: W1, containerId: 'another' }];
    await noteRemoved(bench.records, removed, { reason: 'gone', logger: silentLogger });
    bench.machine.containers.clear();
    const { bridge } = await bench.newAgent();
    expect([bridge.restored, bridge.departures]).toEqual([[], []]);
  });

  test('finds on the disk who its workers are, and nothing of their environments', async () => {
    const bench = new WorkerBench();
    await withRunning(bench);
    expect(JSON.stringify([...bench.records.list().values()])).not.toContain('hello');
    expect(bench.records.list().get(W1)).toMatchObject({
      life: { registration: { workerId: W1, token: expect.any(String) } },
    });
  });

  test('touches nothing before it has heard what is wanted', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    bench.machine.calls.length = 0;
    const after = await bench.newAgent();
    await bench.clock.advance(10 * STRAY_GRACE_MS);
    expect(bench.machine.calls).toEqual([]);
    expect(after.observed(W1)?.phase).toBe('idle');
  });

  test('removes a stray when its grace is over, and not sooner', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    const after = await bench.newAgent();
    await after.want();
    await bench.clock.advance(STRAY_GRACE_MS - 1_000);
    expect(bench.machine.containers.has(W1)).toBe(true);
    await bench.clock.advance(60_000);
    expect(bench.machine.containers.has(W1)).toBe(false);
    expect(after.reconciler.observed()).toEqual([]);
    expect(bench.records.list().size).toBe(0);
  });

  describe('of a container whose program never began', () => {
    const resources = { ...assigned(W1).resources, gpuTypeId: 'NVIDIA L4', gpuCount: 1 };

    async function left(): Promise<{ readonly bench: WorkerBench; readonly agent: BenchAgent }> {
      const bench = new WorkerBench([{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 0 }]);
      const before = await bench.newAgent();
      await before.want(assigned(W1, { resources }));
      await before.vanish();
      const container = bench.machine.containers.get(W1);
      if (container !== undefined) container.isOnlyCreated = true;
      bench.machine.calls.length = 0;
      return { bench, agent: await bench.newAgent() };
    }

    test('leaves nothing of it once nobody wants it, and its GPUs are free', async () => {
      const { agent, bench } = await left();
      await bench.clock.advance(STRAY_GRACE_MS);
      expect(bench.machine.calls).toEqual([]);
      await agent.want();
      for (let second = 0; second < 5; second += 1) await bench.clock.advance(1_000);
      expect(bench.machine.calls).toEqual(['remove w1']);
      expect(agent.reconciler.observed()).toEqual([]);
      await agent.want(assigned(W2, { resources }));
      expect(bench.machine.containers.get(W2)?.gpuIndexes).toEqual([0]);
    });

    test('removes it also where there is no record of it', async () => {
      const { agent, bench } = await left();
      await bench.records.remove(W1);
      await agent.want();
      for (let second = 0; second < 5; second += 1) await bench.clock.advance(1_000);
      expect(bench.machine.calls).toEqual(['remove w1']);
      expect([...bench.records.list()]).toEqual([]);
    });

    test('removes it when it is told that the worker leaves, and when it leaves itself', async () => {
      const told = await left();
      await told.agent.want(assigned(W1, { resources, intent: 'drained' }));
      expect(told.bench.machine.calls).toEqual(['remove w1']);
      expect(told.agent.observed(W1)?.phase).toBe('removed');
      const leaving = await left();
      await leaving.agent.want(assigned(W1, { resources, intent: 'drained' }));
      await leaving.agent.reconciler.drainAll(0);
      expect(leaving.bench.machine.containers.size).toBe(0);
    });

    test('replaces it where it begins after all, as no failure: the bridge does not know its token', async () => {
      const { agent, bench } = await left();
      const container = bench.machine.containers.get(W1);
      if (container !== undefined) container.isOnlyCreated = false;
      await bench.clock.advance(1_000);
      await agent.want(assigned(W1, { resources }));
      expect(agent.bridge.registrations.has(W1)).toBe(true);
      expect(agent.observed(W1)).toMatchObject({ phase: 'starting', failedStarts: 0 });
    });

    test('starts it anew where it is wanted', async () => {
      const { agent, bench } = await left();
      await agent.want(assigned(W1, { resources }));
      expect(bench.machine.calls).toEqual(['prepare local/echo', 'start w1']);
      expect(agent.observed(W1)?.phase).toBe('starting');
    });
  });

  test('replaces a container that it has no record of: nobody could prove its calls', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    await bench.records.remove(W1);
    bench.machine.calls.length = 0;
    const after = await bench.newAgent();
    await after.want(assigned(W1));
    expect(bench.machine.calls).toEqual(['kill w1', 'remove w1', 'prepare local/echo', 'start w1']);
  });

  test('gives no device away that a worker still holds', async () => {
    const bench = new WorkerBench([{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 0 }]);
    const resources = { ...assigned(W1).resources, gpuTypeId: 'NVIDIA L4', gpuCount: 1 };
    const before = await bench.newAgent();
    await before.want(assigned(W1, { resources }));
    await before.vanish();
    const after = await bench.newAgent();
    await after.want(assigned(W1, { resources }), assigned(W2, { resources }));
    expect(after.observed(W2)?.reason).toContain('no-such-device');
  });
});

describe('drainAll', () => {
  test('lets workers leave within the limit, and kills what stays', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    await agent.want(assigned(W1), assigned(W2, { container: { ...assigned(W2).container, args: 'wait' } }));
    agent.bridge.set(W1, { runningJobs: 1, latestDeadlineAtMs: bench.clock.nowMs() + 300_000 });
    const drained = agent.reconciler.drainAll(10_000);
    await bench.clock.advance(9_000);
    expect([...bench.machine.containers.keys()]).toEqual([W1]);
    await bench.clock.advance(2_000);
    await drained;
    expect(bench.machine.containers.size).toBe(0);
    expect(agent.reconciler.observed().map(({ phase }) => phase)).toEqual(['removed', 'removed']);
    const given = agent.bridge.departures.filter(({ workerId }) => workerId === W1);
    expect(given).toMatchObject([{ runningJobs: 1, isFault: false }]);
  });
});

describe('a worker that is told to leave for want of jobs', () => {
  const idleDrain = assigned(W1, { intent: 'drained', leavesAfterIdleMs: 6_000 });

  test('stays when a job of it ended after that was decided, and goes when the idle time is over', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    agent.bridge.set(W1, { lastJobEndedAtMs: bench.clock.nowMs() });
    agent.bridge.tell({ kind: 'job-ended', workerId: W1, ...JOB, outcome: 'completed' });
    await bench.clock.advance(1_000);
    expect(agent.observed(W1)?.lastJobEndedAtMs).toBeGreaterThan(bench.clock.nowMs() - 1_001);
    await agent.want(idleDrain);
    await bench.clock.advance(4_900);
    expect([agent.bridge.drained, agent.observed(W1)?.phase]).toEqual([[], 'idle']);
    await bench.clock.advance(100);
    expect(agent.bridge.drained).toEqual([W1]);
  });

  test('that an earlier life of the agent started stays for its idle time, whoever sets the clock', async () => {
    const bench = new WorkerBench();
    await (await withRunning(bench)).vanish();
    const agent = await bench.newAgent();
    bench.clock.jump(3_600_000);
    await agent.want(idleDrain);
    await bench.clock.advance(5_900);
    expect(agent.bridge.drained).toEqual([]);
    bench.clock.jump(-7_200_000);
    await bench.clock.advance(5_000);
    expect(agent.bridge.drained).toEqual([W1]);
  });

  test('goes at once when it has had none', async () => {
    const bench = new WorkerBench();
    const agent = await withRunning(bench);
    await agent.want(idleDrain);
    expect(agent.bridge.drained).toEqual([W1]);
  });
});
