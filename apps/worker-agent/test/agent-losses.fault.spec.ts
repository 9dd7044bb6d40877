import { fileURLToPath } from 'node:url';
import { encodeJson } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import type { AgentProgram } from './agent-program.js';
import { W1 } from './worker-bench.js';

const IMAGES = fileURLToPath(new URL('workers', import.meta.url));
const WAIT = { deadlineMs: 90_000 };
/** What a busy machine may add. */
const BUSY_MS = 40_000;

const bench = useAgents();
const { control, endOf, phase } = bench;

const startAgent = (): AgentProgram => bench.start({ BERTH_RUNTIME: 'process', BERTH_IMAGES: IMAGES });
const submit = (input: object, more: object = {}): string =>
  control.router.submit({ input: encodeJson(input), endpointId: 'endpoint1', ...more });

const letGoAtMs = (jobId: string): Promise<number> =>
  eventually(() => {
    const found = control.router.letGo.find((each) => each.jobId === jobId);
    if (found === undefined) throw new Error('nobody has said that the job was let go');
    return found.atMs;
  }, WAIT);

const running = (jobId: string): Promise<number> =>
  eventually(() => {
    expect(control.router.stateOf(jobId)).toBe('running');
    expect(control.observed(W1)?.phase).toBe('busy');
    return systemClock.monotonicMs();
  }, WAIT);

describe('a worker that', () => {
  test(
    'dies says how, each time, with its last words, and its job goes on in a new one',
    async () => {
      const agent = startAgent();
      control.desired = [exampleWorker(W1, 'local/mortal')];
      const exits = submit({ dies: 2, by: 'exit' });
      expect((await endOf(exits)).output).toEqual({ retries: 2 });
      const killed = submit({ dies: 1, by: 'kill' });
      expect((await endOf(killed)).output).toEqual({ retries: 1 });
      expect(control.router.losses).toEqual([
        { jobId: exits, attempt: 1, reason: 'worker exited with code 3', isCharged: true },
        { jobId: exits, attempt: 2, reason: 'worker exited with code 3', isCharged: true },
        { jobId: killed, attempt: 1, reason: expect.stringContaining('code 137: killed'), isCharged: true },
      ]);
      const lastWords = control.router.logTails.map((lines) => lines.at(-1));
      expect(lastWords).toEqual(['attempt with 0 retries', 'attempt with 1 retries', 'attempt with 0 retries']);
      await agent.end('SIGTERM');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'never looks up is timed out from outside, killed 10 s later, and replaced',
    async () => {
      const agent = startAgent();
      control.desired = [exampleWorker(W1, 'local/mortal')];
      await phase(W1, 'idle');
      const stuck = submit({ spinSeconds: 120 }, { executionTimeoutMs: 5_000 });
      const startedAtMs = await running(stuck);
      const { result, atMs: endedAtMs } = await endOf(stuck);
      expect(result).toEqual({ kind: 'timed-out' });
      expect(endedAtMs - startedAtMs).toBeLessThan(5_000 + BUSY_MS);
      const next = submit({});
      expect((await letGoAtMs(stuck)) - endedAtMs).toBeGreaterThan(8_500);
      expect(control.router.letGo.map(({ logTail }) => logTail.at(-1))).toEqual(['attempt with 0 retries']);
      expect((await letGoAtMs(stuck)) - endedAtMs).toBeLessThan(10_000 + BUSY_MS);
      expect((await endOf(next)).output).toEqual({ retries: 0 });
      expect(control.router.losses).toEqual([]);
      await agent.end('SIGTERM');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'finishes too late while its agent stands still is timed out all the same',
    async () => {
      const agent = startAgent();
      control.desired = [exampleWorker(W1, 'local/mortal')];
      await phase(W1, 'idle');
      const late = submit({ spinSeconds: 6 }, { executionTimeoutMs: 5_000 });
      await running(late);
      agent.signal('SIGSTOP');
      await systemClock.sleep(8_000);
      agent.signal('SIGCONT');
      expect((await endOf(late)).result).toEqual({ kind: 'timed-out' });
      // Its result was the sign that it had let go.
      await letGoAtMs(late);
      expect((await endOf(submit({}))).output).toEqual({ retries: 0 });
      expect(control.router.losses).toEqual([]);
      await agent.end('SIGTERM');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'stands still while it is idle is replaced within a minute, and the job that comes then is done',
    async () => {
      const agent = startAgent();
      control.desired = [exampleWorker(W1, 'local/mortal')];
      expect((await endOf(submit({ freezesAfterMs: 500 }))).output).toEqual({ retries: 0 });
      const startedAtMs = control.observed(W1)?.startedAtMs;
      await eventually(() => {
        expect(control.observed(W1)?.phase).toBe('idle');
        expect(control.observed(W1)?.startedAtMs).not.toBe(startedAtMs);
      }, WAIT);
      expect((await endOf(submit({}))).output).toEqual({ retries: 0 });
      expect(control.router.losses).toEqual([]);
      await agent.end('SIGTERM');
    },
    TEST_TIMEOUT_MS,
  );
});
