import { encodeJson } from '@berth/domain';
import { LEASE_TRUST_MS } from '@berth/domain';
import { ManualClock, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKER_SHARE, WorkerShares } from '../../src/job-client/attempts/worker-shares.js';
import { TestAgent, registration } from './test-agent.js';
import { WorkerClient, type Answer } from './worker-client.js';

const SHARE = { fileBytesMax: 400_000, memoryBytesMax: 50_000 };
const SMALL = { output: 'x'.repeat(10_000) };
const LARGE = { output: 'x'.repeat(150_000) };
const EXCEEDED = 'the worker gave results and stream chunks faster than its host could pass them on';

let agent: TestAgent;
let greedy: WorkerClient;
let sibling: WorkerClient;

beforeEach(async () => {
  agent = await TestAgent.start(new ManualClock(1_000_000));
  agent.share = SHARE;
  const port = await agent.crash();
  await agent.open(port);
  await agent.bridge.restore([]);
  greedy = WorkerClient.register(agent, 'w1');
  sibling = WorkerClient.register(agent, 'w2');
});
afterEach(() => agent.close());

const takeOne = async (worker: WorkerClient): Promise<string> => {
  agent.router.submit({ input: encodeJson({ n: 1 }) });
  const answer: Answer = await worker.take();
  return (answer.json as { id: string }).id;
};

/** Posts until the agent takes no more; the answers' codes. */
async function pour(jobId: string, chunk: object): Promise<readonly number[]> {
  const codes: number[] = [];
  for (let count = 0; count < 20 && codes.at(-1) !== 503; count += 1) {
    codes.push((await greedy.chunk(jobId, chunk)).status);
  }
  return codes;
}

describe('a worker whose chunks no router takes', () => {
  test.each<[string, object, number]>([
    ['disk', LARGE, 2],
    ['memory', SMALL, 4],
  ])('fills its own share of the %s and no more: its job fails and says so, its sibling goes on', async (...given) => {
    const [, chunk, kept] = given;
    const [jobId, other] = [await takeOne(greedy), await takeOne(sibling)];
    agent.router.down = new Set(['chunk', 'done', 'upload']);
    expect(await pour(jobId, chunk)).toEqual([...Array.from({ length: kept }, () => 200), 503]);
    expect((await greedy.chunk(jobId, chunk)).status).toBe(200);
    expect(agent.client.canTake).toBe(true);
    expect((await sibling.chunk(other, chunk)).status).toBe(200);
    expect((await sibling.done(other, { output: 'fine' })).status).toBe(200);
    agent.router.down.clear();
    await agent.pass(10_000);
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.result).toMatchObject({ kind: 'failed' });
      expect(JSON.stringify(agent.router.ended.get(jobId)?.result)).toContain(EXCEEDED);
      expect(agent.router.ended.get(other)).toMatchObject({ output: 'fine', chunks: 1 });
    });
    expect(agent.router.ended.get(jobId)?.chunks).toBe(kept);
    expect(agent.router.chunkTexts(jobId)).toHaveLength(kept);
  });

  test('is told to stop the job, and to be killed where it does not', async () => {
    const jobId = await takeOne(greedy);
    agent.router.down = new Set(['chunk', 'done']);
    await pour(jobId, LARGE);
    expect((await greedy.stops()).json).toEqual({ jobsToStop: [jobId] });
    await agent.pass(11_000);
    expect(agent.eventsOf('kill-needed')[0]?.workerId).toBe(registration('w1').workerId);
  });

  test('has its share again once a router has taken what waited', async () => {
    const jobId = await takeOne(greedy);
    for (let count = 0; count < 8; count += 1) {
      expect((await greedy.chunk(jobId, LARGE)).status).toBe(200);
      await eventually(() => expect(agent.router.chunkTexts(jobId)).toHaveLength(count + 1));
      await agent.settle();
    }
    expect((await greedy.done(jobId, { output: 'end' })).status).toBe(200);
    await eventually(() => expect(agent.router.ended.get(jobId)).toMatchObject({ output: 'end', chunks: 8 }));
  });

  test('has no more of it after a restart of the agent', async () => {
    const jobId = await takeOne(greedy);
    agent.router.down = new Set(['chunk', 'done']);
    expect((await greedy.chunk(jobId, LARGE)).status).toBe(200);
    expect((await greedy.chunk(jobId, LARGE)).status).toBe(200);
    const port = await agent.crash();
    await agent.open(port);
    await agent.bridge.restore([registration('w1')]);
    expect((await greedy.chunk(jobId, LARGE)).status).toBe(503);
  });
});

test('a result beyond the share of its worker fails the job in words', async () => {
  const jobId = await takeOne(greedy);
  expect((await greedy.done(jobId, { output: 'x'.repeat(500_000) })).status).toBe(503);
  expect((await greedy.done(jobId, { output: 'x'.repeat(500_000) })).status).toBe(200);
  await eventually(() => {
    expect(agent.router.ended.get(jobId)?.result).toMatchObject({ kind: 'failed', output: null });
  });
});

test('the words of errors fill the share of their worker and no more, and it gets no job until they are gone', async () => {
  const error = { error: '\u0001'.repeat(4_000) };
  const [jobs, other] = [[await takeOne(greedy), await takeOne(greedy), await takeOne(greedy)], await takeOne(sibling)];
  agent.router.down = new Set(['chunk', 'done']);
  const codes: number[] = [];
  for (const jobId of jobs) codes.push((await greedy.done(jobId, error)).status);
  expect(codes).toEqual([200, 200, 503]);
  // It lets go of the one that has failed for it.
  expect((await greedy.done(jobs[2] ?? '', error)).status).toBe(200);
  expect((await sibling.done(other, error)).status).toBe(200);
  const polling = greedy.take();
  const next = agent.router.submit({ input: encodeJson({ n: 1 }) });
  await agent.pass(3_000);
  expect(agent.router.stateOf(next)).toBe('queued');
  agent.router.down.clear();
  await agent.pass(10_000);
  expect((await polling).json).toMatchObject({ id: next });
  expect((await greedy.done(next, error)).status).toBe(200);
  await eventually(() => expect(agent.router.ended.size).toBe(5));
});

test('a share holds what a server of language models streams for as long as its jobs are trusted without a router', () => {
  const shares = new WorkerShares(DEFAULT_WORKER_SHARE);
  const { workerId } = registration('w1');
  const chunks = (1_300 * LEASE_TRUST_MS) / 1_000;
  for (let chunk = 0; chunk < chunks; chunk += 1) shares.claim(workerId, [{ key: `chunk ${chunk}`, bytes: 150 }]);
  // And it may still be given jobs when the router is back.
  expect(shares.hasRoom(workerId)).toBe(true);
});
