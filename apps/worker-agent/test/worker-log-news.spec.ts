import type { AccountId, JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { RuntimeError } from '../src/runtimes/runtime-error.js';
import { W1, WorkerBench, assigned } from './worker-bench.js';

const JOB = { workerId: W1, jobId: 'job1' as JobId, attempt: 1 };

describe('what is told to the log of a worker', () => {
  test('is its whole way, from its image to its end, in its order', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    const worker = assigned(W1, { accountId: 'account1' as AccountId });
    await agent.want({ ...worker, container: { ...worker.container, args: 'wait' } });
    agent.bridge.poll(W1);
    await bench.clock.advance(0);
    agent.bridge.tell({ kind: 'job-started', ...JOB });
    agent.bridge.tell({ kind: 'job-ended', ...JOB, outcome: 'completed' });
    await bench.clock.advance(1_000);
    await agent.want({ ...worker, intent: 'drained' });
    await bench.clock.advance(1_000);
    await agent.want();
    await bench.clock.advance(1_000);
    expect(agent.logs.told).toEqual([
      'w1: preparing: the image is being prepared',
      'w1: starting: the container is being started',
      'settle w1',
      'follow w1 c1',
      'w1: starting: the worker has not asked for a job yet',
      'w1: ready',
      'w1 begins job1',
      'w1 ends job1',
      'w1: draining: told to leave',
      'w1: asked to end (SIGTERM)',
      'w1: the container has ended with code 0',
      'settle w1',
      'w1: removed',
      'close w1',
    ]);
    expect(agent.logs.opened[0]).toEqual({ workerId: W1, endpointId: 'endpoint1', accountId: 'account1' });
  });

  test('is how it ended, and why it does not come up', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1));
    bench.machine.end(W1, { code: 137, cause: 'out-of-memory', detail: 'killed, out of memory: its limit is 128 MiB' });
    agent.runtime.failing('start', new RuntimeError('disk-full', 'No room.'));
    await bench.clock.advance(5_000);
    const said = agent.logs.told.join('\n');
    expect(said).toContain('w1: the container has ended with code 137: killed, out of memory: its limit is 128 MiB');
    expect(said).toMatch(/w1: waiting: 2 failed starts in a row: disk-full: No room\./);
  });
});
