import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { STRAY_GRACE_MS, type WorkerId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { versionOf } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Journal } from '../src/journal/journal.js';
import { ProcessRuntime } from '../src/runtimes/process/process-runtime.js';
import { parseRecord } from '../src/worker-reconciler/worker-record.js';
import { EXAMPLES, TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import type { AgentProgram } from './agent-program.js';
import { W1, W2 } from './worker-bench.js';
import { testMachine } from './test-machine.js';

const SLOW = { deadlineMs: 90_000 };
const GRACE_LEFT_MS = 3_000;
const bench = useAgents();
const { control, endOf, phase, submit } = bench;

afterEach(async () => {
  const runtime = await openRuntime();
  for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
  await runtime.close();
}, TEST_TIMEOUT_MS);

/** The workers as the machine has them, whatever the agent thinks. */
const openRuntime = (): Promise<ProcessRuntime> =>
  ProcessRuntime.open({
    workersFolder: join(bench.home, 'workers'),
    imagesFolder: EXAMPLES,
    machine: testMachine(),
    clock: systemClock,
    random: systemRandom,
    environment: {},
    setupEnvironment: {},
  });

async function containerOf(workerId: WorkerId): Promise<string | null> {
  const runtime = await openRuntime();
  const container = await runtime.inspect(workerId);
  await runtime.close();
  return container?.state.kind === 'running' ? container.containerId : null;
}

/** As if the worker had been unwanted for so long when the agent was stopped. */
async function ageWish(workerId: WorkerId, ms: number): Promise<void> {
  const journal = await Journal.open({ folder: join(bench.home, 'journal'), random: systemRandom });
  const record = parseRecord(journal.workers.list().get(workerId));
  if (record === null) throw new Error(`the agent has kept no record of ${workerId}`);
  const unwantedSinceMs = systemClock.nowMs() - ms;
  await journal.workers.put(workerId, { ...record, journal: { ...record.journal, unwantedSinceMs } });
  await journal.close();
}

const startAgent = (more: Readonly<Record<string, string>> = {}): AgentProgram =>
  bench.start({ BERTH_RUNTIME: 'process', BERTH_IMAGES: EXAMPLES, ...more });
const nodeEcho = (workerId: WorkerId) => exampleWorker(workerId, 'local/node-echo');

describe('the agent with processes', () => {
  test(
    'joins, starts a worker, runs its jobs, and takes it away when it goes itself',
    async () => {
      const agent = startAgent();
      control.desired = [nodeEcho(W1)];
      expect(await endOf(submit({ message: 'ahoy' }))).toMatchObject({ output: { echo: { message: 'ahoy' } } });
      await phase(W1, 'idle');
      expect(await agent.end('SIGTERM')).toBe(0);
      expect(await containerOf(W1)).toBeNull();
      expect(control.observed(W1)?.phase).toBe('removed');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'starts a crashed worker anew, and says why one cannot start',
    async () => {
      control.desired = [nodeEcho(W1), exampleWorker(W2, 'local/no-such-image')];
      startAgent();
      await eventually(() => expect(control.observed(W2)?.reason).toContain('image-missing'), SLOW);
      await phase(W1, 'idle');
      const first = await containerOf(W1);
      const runtime = await openRuntime();
      await runtime.kill(W1);
      await runtime.close();
      await eventually(async () => {
        const second = await containerOf(W1);
        expect(second).not.toBeNull();
        expect(second).not.toBe(first);
      }, SLOW);
      await phase(W1, 'idle');
      expect(await endOf(submit({ after: 'crash' }))).toMatchObject({ output: { echo: { after: 'crash' } } });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'finds its worker again after it was killed in the middle of a job, and the job ends in its first attempt',
    async () => {
      const first = startAgent();
      control.desired = [nodeEcho(W1)];
      await phase(W1, 'idle');
      const containerId = await containerOf(W1);
      const jobId = submit({ sleep: 5, message: 'slow' });
      await phase(W1, 'busy');
      expect(await first.end('SIGKILL')).toBeNull();
      expect(await containerOf(W1)).toBe(containerId);

      startAgent();
      expect(await endOf(jobId)).toMatchObject({ output: { echo: { message: 'slow' } } });
      expect(control.router.losses).toEqual([]);
      expect(await containerOf(W1)).toBe(containerId);
      // Polls of the agent that was killed still wait at the router and swallow a job each.
      const next = Array.from({ length: 8 }, () => submit({ next: true }));
      await eventually(() => expect(next.some((id) => control.router.ended.has(id))).toBe(true), SLOW);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'replaces a worker that cannot find it again, because another process has the port of its bridge by now',
    async () => {
      const first = startAgent();
      control.desired = [nodeEcho(W1)];
      await phase(W1, 'idle');
      const containerId = await containerOf(W1);
      await first.end('SIGKILL');
      const intruder = createServer((socket) => socket.destroy());
      const port = Number(await readFile(join(bench.home, 'bridge-port'), 'utf8'));
      await once(intruder.listen(port, '127.0.0.1'), 'listening');

      startAgent();
      await eventually(async () => {
        const next = await containerOf(W1);
        expect(next).not.toBeNull();
        expect(next).not.toBe(containerId);
      }, SLOW);
      // It is ready when it has asked the bridge for a job.
      await phase(W1, 'idle');
      intruder.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'lets a short job end and leaves its workers running when it is told to keep them, and removes one that nobody has wanted for a minute, over its restart',
    async () => {
      const first = startAgent({ BERTH_KEEP_WORKERS: 'true' });
      control.desired = [nodeEcho(W1)];
      await phase(W1, 'idle');
      const containerId = await containerOf(W1);
      const short = submit({ sleep: 1, message: 'short' });
      await phase(W1, 'busy');
      expect(await first.end('SIGTERM')).toBe(0);
      expect(control.router.ended.get(short)).toMatchObject({ output: { echo: { message: 'short' } } });
      expect(await containerOf(W1)).toBe(containerId);

      control.desired = [];
      const agedMs = systemClock.monotonicMs();
      await ageWish(W1, STRAY_GRACE_MS - GRACE_LEFT_MS);
      startAgent({ BERTH_KEEP_WORKERS: 'true' });
      await eventually(async () => expect(await containerOf(W1)).toBeNull(), { ...SLOW, intervalMs: 100 });
      expect(systemClock.monotonicMs() - agedMs).toBeGreaterThan(GRACE_LEFT_MS - 100);
      await eventually(() => expect(control.reports.at(-1)?.workers).toEqual([]), SLOW);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'is upgraded under a job: that ends in its first attempt, in the worker that had it, and the next one follows there',
    async () => {
      // An empty value is none: what is tried is the default.
      const first = startAgent({ BERTH_KEEP_WORKERS: '' });
      control.desired = [nodeEcho(W1)];
      await phase(W1, 'idle');
      const containerId = await containerOf(W1);
      const running = submit({ sleep: 15, message: 'running' });
      await phase(W1, 'busy');
      expect(await first.end('SIGTERM')).toBe(0);
      expect(control.router.ended.has(running)).toBe(false);

      startAgent({ BERTH_KEEP_WORKERS: '' });
      expect(await endOf(running)).toMatchObject({ output: { echo: { message: 'running' } } });
      expect(await endOf(submit({ message: 'next' }))).toMatchObject({ output: { echo: { message: 'next' } } });
      expect(control.router.losses).toEqual([]);
      expect(await containerOf(W1)).toBe(containerId);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'pauses an idle worker, which does nothing until it is wanted, over its own restart, and runs the next job in the same life',
    async () => {
      const paused = { ...nodeEcho(W1), intent: 'paused', pausesAfterIdleMs: 0 } as const;
      const first = startAgent({ BERTH_KEEP_WORKERS: 'true' });
      control.desired = [nodeEcho(W1)];
      expect(await endOf(submit({ message: 'before' }))).toMatchObject({ output: { echo: { message: 'before' } } });
      await phase(W1, 'idle');
      const containerId = await containerOf(W1);
      control.desired = [paused];
      await phase(W1, 'paused');
      expect(await containerOf(W1)).toBeNull();
      const jobId = submit({ message: 'after' });
      expect(await first.end('SIGTERM')).toBe(0);

      startAgent({ BERTH_KEEP_WORKERS: 'true' });
      await phase(W1, 'paused');
      expect(control.router.ended.has(jobId)).toBe(false);
      control.desired = [nodeEcho(W1)];
      expect(await endOf(jobId)).toMatchObject({ output: { echo: { message: 'after' } } });
      expect(await containerOf(W1)).toBe(containerId);
      expect(control.router.losses).toEqual([]);
      control.desired = [paused];
      await phase(W1, 'paused');
      control.desired = [{ ...paused, intent: 'drained' }];
      await phase(W1, 'removed');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'shares its home with no other agent that is alive',
    async () => {
      startAgent();
      await eventually(
        () => expect(control.reports.at(-1)?.inventory).toMatchObject({ agentVersion: versionOf() }),
        SLOW,
      );
      const second = startAgent();
      await eventually(() => expect(second.isRunning).toBe(false), SLOW);
      expect(await second.end('SIGTERM')).toBe(1);
      expect(second.output).toContain('Another agent');
    },
    TEST_TIMEOUT_MS,
  );

  test.each([
    [{ BERTH_JOIN_TOKEN: '' }, 'set BERTH_JOIN_TOKEN'],
    [{ BERTH_NATS_URL: 'http://x', BERTH_SIMULATED_GPUS: 'L4:1' }, 'BERTH_SIMULATED_GPUS cannot be used'],
    [{ BERTH_RUNTIME: 'docker', BERTH_DOCKER_SOCKET: '/nowhere/docker.sock' }, '/nowhere/docker.sock cannot be used'],
  ])(
    'does not start with %j, and says why',
    async (settings, why) => {
      const agent = startAgent(settings);
      await eventually(() => expect(agent.isRunning).toBe(false), SLOW);
      expect(await agent.end('SIGTERM')).toBe(1);
      expect(agent.output).toContain(why);
    },
    TEST_TIMEOUT_MS,
  );
});
