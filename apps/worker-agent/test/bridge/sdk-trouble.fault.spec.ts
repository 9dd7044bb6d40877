import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeJson } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { PYTHON_SETUP_MS } from '@berth/testing/python';
import type { Ended } from './fake-router.js';
import { prepareSdks } from './sdk-python.js';
import { SdkWorker, type SdkWorkerOptions } from './sdk-worker.js';
import { TestAgent } from './test-agent.js';

const CURRENT = '1.12.0';
const WAIT = { deadlineMs: 90_000, intervalMs: 50 };
const TEST_MS = 240_000;
/** What a busy machine may add. */
const BUSY_MS = 40_000;

const agents: TestAgent[] = [];
const workers: SdkWorker[] = [];
let agent: TestAgent;

const newAgent = async (): Promise<TestAgent> => {
  const fresh = await TestAgent.start(systemClock);
  agents.push(fresh);
  return fresh;
};
const start = async (on: TestAgent, id: string, options: Partial<SdkWorkerOptions> = {}): Promise<SdkWorker> => {
  const worker = await SdkWorker.start(on, id, { version: CURRENT, handler: 'many', ...options });
  workers.push(worker);
  return worker;
};
const submit = (on: TestAgent, id: string, { timeoutMs, ...input }: { timeoutMs?: number; [name: string]: unknown }) =>
  on.router.submit({
    input: encodeJson(input),
    endpointId: `ep${id}`,
    ...(timeoutMs === undefined ? {} : { executionTimeoutMs: timeoutMs }),
  });
const endOf = (on: TestAgent, jobId: string): Promise<Ended> =>
  eventually(() => {
    const ended = on.router.ended.get(jobId);
    if (ended === undefined) throw new Error(`${jobId} is ${on.router.stateOf(jobId)}`);
    return ended;
  }, WAIT);
const started = (on: TestAgent, jobId: string): Promise<void> =>
  eventually(() => {
    expect(on.eventsOf('job-started').map((event) => event.jobId)).toContain(jobId);
  }, WAIT);

/** What each scenario found; they run side by side, because each waits more than it works. */
const scenarios = {
  blocked: async () => {
    const worker = await start(agent, 'blocked', { env: { CONCURRENCY: '2' } });
    const sibling = submit(agent, 'blocked', { do: 'sleep', seconds: 90 });
    await started(agent, sibling);
    const blocking = submit(agent, 'blocked', { do: 'block', seconds: 90 });
    await started(agent, blocking);
    const cancelledAtMs = systemClock.monotonicMs();
    agent.router.cancel(blocking);
    const kill = await eventually(() => {
      const asked = agent.eventsOf('kill-needed').find(({ workerId }) => workerId === 'blocked');
      if (asked === undefined) throw new Error('no kill asked');
      return { reason: asked.reason, afterMs: systemClock.monotonicMs() - cancelledAtMs };
    }, WAIT);
    await worker.kill();
    await agent.bridge.unregister(worker.registration.workerId, { reason: 'exited with code 137', isFault: true });
    const again = await start(agent, 'blocked', { token: 'another-start-0123456789abcdef' });
    await eventually(() => expect(agent.router.attemptOf(sibling)).toBe(2), WAIT);
    await again.kill();
    return { kill, blocking, sibling };
  },

  old: async () => {
    const worker = await start(agent, 'old', { version: '1.9.1' });
    const jobId = submit(agent, 'old', { do: 'sleep', seconds: 90 });
    await started(agent, jobId);
    agent.router.cancel(jobId);
    await eventually(() => {
      expect(agent.eventsOf('kill-needed').map(({ workerId }) => workerId)).toContain('old');
    }, WAIT);
    const state = agent.bridge.state(worker.registration.workerId);
    await worker.kill();
    await agent.bridge.unregister(worker.registration.workerId, { reason: 'exited', isFault: true });
    return { jobId, state };
  },

  firstStopChannel: async () => {
    await start(agent, 'stoppable', { version: '1.10.1' });
    const jobId = submit(agent, 'stoppable', { do: 'sleep', seconds: 90 });
    await started(agent, jobId);
    agent.router.cancel(jobId);
    const next = submit(agent, 'stoppable', { do: 'echo', after: 'cancel' });
    return { jobId, next: await endOf(agent, next) };
  },

  parallelTakes: async () => {
    await start(agent, 'parallel', { version: '1.6.2', env: { CONCURRENCY: '3' } });
    const first = submit(agent, 'parallel', { do: 'sleep', seconds: 4 });
    await started(agent, first);
    const others = [1, 2].map((n) => submit(agent, 'parallel', { do: 'sleep', seconds: 1, n }));
    const ends = await Promise.all(others.map((jobId) => endOf(agent, jobId)));
    const isFirstRunning = agent.router.stateOf(first) === 'running';
    await endOf(agent, first);
    return { ends, isFirstRunning };
  },

  timeout: async () => {
    await start(agent, 'slow');
    const jobId = submit(agent, 'slow', { do: 'sleep', seconds: 90, timeoutMs: 5_000 });
    const ended = await endOf(agent, jobId);
    const next = submit(agent, 'slow', { do: 'echo' });
    return { ended, next: await endOf(agent, next) };
  },

  crashed: async () => {
    const worker = await start(agent, 'crashed');
    const jobId = submit(agent, 'crashed', { do: 'sleep', seconds: 3 });
    await started(agent, jobId);
    await worker.kill();
    await agent.bridge.unregister(worker.registration.workerId, { reason: 'worker exited: SIGKILL', isFault: true });
    await start(agent, 'crashed', { token: 'second-start-0123456789abcdef' });
    return { jobId, ended: await endOf(agent, jobId) };
  },

  refreshed: async () => {
    const worker = await start(agent, 'refreshed', { env: { REFRESH: '1', CONCURRENCY: '2' } });
    await endOf(agent, submit(agent, 'refreshed', { do: 'echo' }));
    const endedAtMs = systemClock.monotonicMs();
    const code = await worker.exited;
    return { code, tookMs: systemClock.monotonicMs() - endedAtMs };
  },

  restarted: async () => {
    const own = await newAgent();
    const worker = await start(own, 'restarted');
    const jobId = submit(own, 'restarted', { do: 'sleep', seconds: 4 });
    await started(own, jobId);
    const port = await own.crash();
    await own.open(port);
    await own.bridge.restore([worker.registration]);
    const ended = await endOf(own, jobId);
    const next = await endOf(own, submit(own, 'restarted', { do: 'echo' }));
    return { ended, next, losses: own.router.losses };
  },
} satisfies Record<string, () => Promise<unknown>>;

type Scenarios = typeof scenarios;
const running = new Map<keyof Scenarios, Promise<unknown>>();
const found = <Name extends keyof Scenarios>(name: Name): ReturnType<Scenarios[Name]> =>
  running.get(name) as ReturnType<Scenarios[Name]>;

beforeAll(async () => {
  await prepareSdks([CURRENT, '1.6.2', '1.9.1', '1.10.1']);
  agent = await newAgent();
  for (const name of Object.keys(scenarios) as (keyof Scenarios)[]) {
    const outcome = scenarios[name]();
    // Its own test tells of it; until then it must not end the run.
    outcome.catch(() => undefined);
    running.set(name, outcome);
  }
}, PYTHON_SETUP_MS);

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await Promise.all(agents.map((each) => each.close()));
});

describe('with the official SDK', () => {
  test(
    'a handler that cannot be interrupted costs its process 10 s after the cancel, and its neighbour no attempt',
    async () => {
      const { kill, blocking, sibling } = await found('blocked');
      expect(kill.reason).toBe(`job ${blocking} did not stop`);
      expect(kill.afterMs).toBeGreaterThanOrEqual(9_900);
      expect(kill.afterMs).toBeLessThan(10_000 + BUSY_MS);
      expect(agent.router.losses).toContainEqual({
        jobId: sibling,
        attempt: 1,
        reason: 'its worker was killed to stop another job',
        isCharged: false,
      });
      expect(agent.router.ended.has(blocking)).toBe(false);
    },
    TEST_MS,
  );

  test(
    'before the stop channel existed, a cancel costs the process',
    async () => {
      const { jobId, state } = await found('old');
      expect(state).toMatchObject({ sdkVersion: '1.9.1' });
      expect(agent.router.ended.has(jobId)).toBe(false);
      expect(agent.router.losses.filter((loss) => loss.jobId === jobId)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'of the first version with a stop channel, a cancelled job lets go and the next one runs',
    async () => {
      const { jobId, next } = await found('firstStopChannel');
      expect(next.output).toEqual({ do: 'echo', after: 'cancel' });
      expect(agent.eventsOf('job-ended')).toContainEqual(expect.objectContaining({ jobId, outcome: 'stopped' }));
      expect(agent.eventsOf('kill-needed').map(({ workerId }) => workerId)).not.toContain('stoppable');
    },
    TEST_MS,
  );

  test(
    'of a version that takes in parallel, every poll gets a job of its own',
    async () => {
      const { ends, isFirstRunning } = await found('parallelTakes');
      expect(ends.map(({ output }) => output)).toEqual([{ slept: 1 }, { slept: 1 }]);
      expect(isFirstRunning).toBe(true);
    },
    TEST_MS,
  );

  test(
    'a job past its execution timeout is TIMED_OUT, and its worker goes on with the next',
    async () => {
      const { ended, next } = await found('timeout');
      expect(ended.result).toEqual({ kind: 'timed-out' });
      expect(next.output).toEqual({ do: 'echo' });
    },
    TEST_MS,
  );

  test(
    'a crashed process costs its job an attempt, and the next start completes it',
    async () => {
      const { jobId, ended } = await found('crashed');
      expect(ended.output).toEqual({ slept: 3 });
      expect(agent.router.losses.filter((loss) => loss.jobId === jobId)).toEqual([
        { jobId, attempt: 1, reason: 'worker exited: SIGKILL', isCharged: true },
      ]);
    },
    TEST_MS,
  );

  test(
    'a worker that refreshes itself after each job exits with 0, soon',
    async () => {
      const { code, tookMs } = await found('refreshed');
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(10_000 + BUSY_MS);
      expect(agent.eventsOf('recycle-wanted').map(({ workerId }) => workerId)).toContain('refreshed');
    },
    TEST_MS,
  );

  test(
    'a worker that outlives its agent ends its job and takes the next, with the first attempt',
    async () => {
      const { ended, next, losses } = await found('restarted');
      expect(ended.output).toEqual({ slept: 4 });
      expect(next.output).toEqual({ do: 'echo' });
      expect(losses).toEqual([]);
    },
    TEST_MS,
  );
});
