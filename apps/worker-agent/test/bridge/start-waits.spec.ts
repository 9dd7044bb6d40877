import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { encodeJson } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { TestAgent, registration } from './test-agent.js';
import { WorkerClient } from './worker-client.js';

let agent: TestAgent;
let worker: WorkerClient;
const { workerId } = registration('w1');

beforeEach(async () => {
  agent = await TestAgent.start(new ManualClock(1_000_000));
  worker = WorkerClient.register(agent, 'w1');
});
afterEach(() => agent.close());

/** The router says of each job that it has waited for 12 ms. */
async function waitingJobRuns(): Promise<void> {
  agent.router.submit({ input: encodeJson({ n: 1 }) });
  const { json, status } = await worker.take();
  expect(status).toBe(200);
  await worker.done((json as { id: string }).id, { output: 1 });
}

const counted = async (): Promise<readonly number[]> =>
  Promise.all(
    ['cold', 'resumed', 'warm'].map((start) =>
      agent.metric(`berth_agent_endpoint_start_wait_seconds_count{endpoint="ep1",start="${start}"}`),
    ),
  );

test('a job that waited for its worker to start is told from one for which it was there, or went on', async () => {
  await waitingJobRuns();
  expect(await counted()).toEqual([1, 0, 0]);
  await waitingJobRuns();
  expect(await counted()).toEqual([1, 0, 1]);
  await agent.bridge.holdPolls(workerId);
  agent.bridge.openPolls(workerId);
  await waitingJobRuns();
  expect(await counted()).toEqual([1, 1, 1]);
  expect(await agent.metric('berth_agent_endpoint_start_wait_seconds_sum{endpoint="ep1",start="resumed"}')).toBe(0.012);
});

test('a worker that an earlier life of the agent started was there', async () => {
  await agent.crash();
  await agent.open(agent.bridge.port);
  await agent.bridge.restore([registration('w1')]);
  await waitingJobRuns();
  expect(await counted()).toEqual([0, 0, 1]);
});
