import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeJson } from '@berth/domain';
import { ManualClock, eventually } from '@berth/testing';
import { TestAgent, registration } from './test-agent.js';
import { WorkerClient, type Answer } from './worker-client.js';

let clock: ManualClock;
let agent: TestAgent;
let worker: WorkerClient;
const { workerId } = registration('w1');

beforeEach(async () => {
  clock = new ManualClock(1_000_000);
  agent = await TestAgent.start(clock);
  worker = WorkerClient.register(agent, 'w1');
});
afterEach(() => agent.close());

const submit = (): string => agent.router.submit({ input: encodeJson({ n: 1 }) });
const idOf = (answer: Answer): string => (answer.json as { id: string }).id;
const asked = (takes: number): Promise<void> => eventually(() => expect(agent.router.countOf('take')).toBe(takes));

const takeCalls = (): Promise<number> => agent.metric('berth_agent_bridge_calls_total{call="take"}');

/** A poll that has reached the bridge. Its answer is wrapped, for a promise of a promise would wait for it. */
async function parked(): Promise<{ readonly answer: Promise<Answer> }> {
  const calls = await takeCalls();
  const answer = worker.take();
  await eventually(async () => expect(await takeCalls()).toBe(calls + 1));
  return { answer };
}

describe('a worker whose polls are held', () => {
  test('has its parked polls answered without a job, and what routers hold for it withdrawn', async () => {
    const polls = [worker.take(), worker.take()];
    const stops = worker.stops();
    await asked(2);
    await eventually(async () => expect(await agent.metric('berth_agent_bridge_calls_total{call="stop"}')).toBe(1));
    await agent.bridge.holdPolls(workerId);
    expect((await Promise.all([...polls, stops])).map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(agent.router.withdrawals).toEqual([{ endpointId: 'ep1', workerId: 'w1' }]);
  });

  test('is asked for nowhere, and is not taken for one that has stopped asking', async () => {
    await agent.bridge.holdPolls(workerId);
    const polling = await parked();
    submit();
    await agent.pass(10_000);
    expect(agent.router.countOf('take')).toBe(0);
    expect(agent.bridge.state(workerId)).toMatchObject({ runningJobs: 0, notAskingSinceMs: null });
    await agent.pass(15_000);
    expect(await polling.answer).toMatchObject({ status: 204 });
    await agent.pass(60_000);
    expect(agent.bridge.state(workerId)?.notAskingSinceMs).toBeNull();
    agent.bridge.openPolls(workerId);
    const openedAtMs = clock.nowMs();
    await agent.pass(1_000);
    expect(agent.bridge.state(workerId)?.notAskingSinceMs).toBeGreaterThanOrEqual(openedAtMs - 500);
  });

  test('gets the job by the poll that it makes after it went on, never by one from before', async () => {
    await agent.bridge.holdPolls(workerId);
    const before = await parked();
    const jobId = submit();
    await agent.bridge.holdPolls(workerId);
    expect(await before.answer).toMatchObject({ status: 204 });
    const after = await parked();
    agent.bridge.openPolls(workerId);
    expect(idOf(await after.answer)).toBe(jobId);
    expect(agent.router.losses).toEqual([]);
  });

  test('gives a job that a router gave meanwhile back, and nobody pays for it', async () => {
    const polling = worker.take();
    await asked(1);
    const held = agent.bridge.holdPolls(workerId);
    // The withdrawal and the job cross.
    const jobId = submit();
    await held;
    expect(await polling).toMatchObject({ status: 204 });
    await agent.pass(1_000);
    expect(agent.router.losses.every((loss) => loss.jobId === jobId && !loss.isCharged)).toBe(true);
    agent.bridge.openPolls(workerId);
    const again = worker.take();
    await agent.pass(2_000);
    expect(idOf(await again)).toBe(jobId);
  });

  test('keeps a job that it had been given: whoever would freeze it sees that it has one', async () => {
    submit();
    await worker.take();
    await agent.bridge.holdPolls(workerId);
    expect(agent.bridge.state(workerId)).toMatchObject({ runningJobs: 1 });
  });

  test('that drains meanwhile gets no job any more, whatever is opened', async () => {
    await agent.bridge.holdPolls(workerId);
    await agent.bridge.beginDrain(workerId);
    agent.bridge.openPolls(workerId);
    submit();
    const polling = worker.take();
    await eventually(() => expect(clock.waiting).toBeGreaterThan(0));
    await agent.pass(5_000);
    expect(await polling).toMatchObject({ status: 204 });
    expect(agent.router.countOf('take')).toBe(0);
  });
});
