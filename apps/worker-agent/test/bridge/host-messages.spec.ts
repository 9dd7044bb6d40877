import type { EndpointId, RawJson, WorkerId } from '@berth/domain';
import { ManualClock, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Attempt } from '../../src/job-client/attempts/attempt.js';
import { TestAgent } from './test-agent.js';

const SLOW_MS = 40;
let agent: TestAgent;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  agent = await TestAgent.start(clock);
});
afterEach(() => agent.close());

const askOf = (workerId: string, waitMs = 5_000) => ({
  ...{ endpointId: 'ep1' as EndpointId, workerId: workerId as WorkerId },
  ...{ slots: 1, waitMs },
});

async function holdOne(workerId = 'w1'): Promise<Attempt> {
  agent.router.submit({ input: '{}' as RawJson });
  const outcome = await agent.client.take(askOf(workerId));
  if (outcome.kind !== 'jobs' || outcome.jobs[0] === undefined) throw new Error(outcome.kind);
  await agent.client.prepare(outcome.jobs[0]);
  return outcome.jobs[0].attempt;
}

const complete = (attempt: Attempt): Promise<string> =>
  agent.client.settle(attempt, { kind: 'completed', output: '1' as RawJson });

const sentOf = (verb: 'take' | 'done'): readonly number[] =>
  agent.router.messages.filter((message) => message.verb === verb).map(({ entries }) => entries);

const endingsOnDisk = (): number => agent.journal.list('ending/').length;

/** A promise whose outcome can be looked at. */
function watched<T>(promise: Promise<T>): { outcome: T | null } {
  const seen: { outcome: T | null } = { outcome: null };
  void promise.then((outcome) => (seen.outcome = outcome));
  return seen;
}

describe('the workers of one host', () => {
  test('ask in one message for what they wish at one time, and in another for what they wish later', async () => {
    const first = ['w1', 'w2', 'w3'].map((each) => agent.client.take(askOf(each)));
    await eventually(() => expect(sentOf('take')).toEqual([3]));
    const later = agent.client.take(askOf('w4'));
    await eventually(() => expect(sentOf('take')).toEqual([3, 1]));
    for (let n = 0; n < 4; n += 1) agent.router.submit({ input: '{}' as RawJson });
    const outcomes = await Promise.all([...first, later]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['jobs', 'jobs', 'jobs', 'jobs']);
  });

  test('get a job by itself where the others of their message wait on', async () => {
    const takes = ['w1', 'w2'].map((each) => watched(agent.client.take(askOf(each))));
    await eventually(() => expect(sentOf('take')).toEqual([2]));
    agent.router.submit({ input: '{}' as RawJson });
    await eventually(() => expect(takes.filter(({ outcome }) => outcome?.kind === 'jobs')).toHaveLength(1));
    expect(takes.filter(({ outcome }) => outcome === null)).toHaveLength(1);
  });

  test('are given no job that is read more than 20 s after it was asked for: it goes back, uncharged', async () => {
    const answer = Promise.withResolvers<void>();
    agent.router.slow.set('take', answer.promise);
    agent.router.submit({ id: 'late', input: '{}' as RawJson });
    const taken = agent.client.take(askOf('w1'));
    await eventually(() => expect(sentOf('take')).toEqual([1]));
    // As for a process that stood still: nothing of it sees the time pass.
    await clock.advance(20_001);
    answer.resolve();
    expect(await taken).toEqual({ kind: 'none' });
    await eventually(() => expect(agent.router.losses).toMatchObject([{ jobId: 'late', isCharged: false }]));
  });
});

describe('ends of attempts', () => {
  test('that are ready while messages are under way go together, and a lone one waits for nothing', async () => {
    const attempts: Attempt[] = [];
    for (let n = 0; n < 8; n += 1) attempts.push(await holdOne(`w${n}`));
    const [first, second, ...others] = attempts;
    if (first === undefined || second === undefined) throw new Error('no attempts');
    const answer = Promise.withResolvers<void>();
    agent.router.slow.set('done', answer.promise);
    const told = [complete(first)];
    await eventually(() => expect(sentOf('done')).toEqual([1]));
    told.push(complete(second));
    await eventually(() => expect(sentOf('done')).toEqual([1, 1]));
    told.push(...others.map(complete));
    answer.resolve();
    expect(await Promise.all(told)).toEqual(attempts.map(() => 'accepted'));
    await eventually(() => expect(sentOf('done')).toEqual([1, 1, 6]));
  });

  test('are kept waiting by no message of which nobody says anything', async () => {
    const attempts: Attempt[] = [];
    for (let n = 0; n < 3; n += 1) attempts.push(await holdOne(`w${n}`));
    agent.router.slow.set('done', new Promise(() => undefined));
    for (const [sent, attempt] of attempts.entries()) {
      void complete(attempt);
      if (sent < 2) await eventually(() => expect(sentOf('done')).toHaveLength(sent + 1));
    }
    await eventually(async () => {
      await clock.advance(50);
      expect(sentOf('done')).toHaveLength(3);
    });
  });
});

describe('a result', () => {
  test('that a router has at once is never written down', async () => {
    const attempt = await holdOne();
    const put = agent.journal.put.bind(agent.journal);
    const keys: string[] = [];
    agent.journal.put = (entries, outlives) => {
      keys.push(...entries.map(({ key }) => key));
      return put(entries, outlives);
    };
    expect(await complete(attempt)).toBe('accepted');
    await agent.settle();
    expect(keys.filter((key) => key.startsWith('ending/'))).toEqual([]);
    expect(agent.router.ended.has(attempt.ref.jobId)).toBe(true);
  });

  test('is confirmed when a router has it, or after 40 ms when it is on the disk, and not before', async () => {
    const attempt = await holdOne();
    agent.router.slow.set('done', new Promise(() => undefined));
    const told = watched(complete(attempt));
    await eventually(() => expect(sentOf('done')).toEqual([1]));
    await clock.advance(SLOW_MS - 1);
    await agent.settle();
    expect([told.outcome, endingsOnDisk()]).toEqual([null, 0]);
    await clock.advance(1);
    await eventually(() => expect(told.outcome).toBe('accepted'));
    expect(endingsOnDisk()).toBe(1);
  });

  test('is on the disk before it is confirmed where no router answers', async () => {
    const attempt = await holdOne();
    agent.router.down.add('done');
    expect(await complete(attempt)).toBe('accepted');
    expect(endingsOnDisk()).toBe(1);
  });

  test('that was not confirmed when its agent was killed is its worker’s to say again', async () => {
    const attempt = await holdOne();
    agent.router.slow.set('done', new Promise(() => undefined));
    const told = watched(complete(attempt));
    await eventually(() => expect(sentOf('done')).toEqual([1]));
    const port = await agent.crash();
    expect(told.outcome).toBeNull();
    agent.router.slow.clear();
    await agent.open(port);
    const [held] = await agent.client.restore(() => true);
    if (held === undefined) throw new Error('the attempt was forgotten');
    expect(await complete(held)).toBe('accepted');
    expect(agent.router.ended.get(attempt.ref.jobId)?.output).toBe(1);
  });
});
