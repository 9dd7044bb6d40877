import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeJson, type EndpointId, type RawJson, type WorkerId } from '@berth/domain';
import { ManualClock, eventually } from '@berth/testing';
import type { Attempt, StopReason } from '../../src/job-client/attempts/attempt.js';
import type { TakenAttempt } from '../../src/job-client/job-client.js';
import { JournalFullError } from '../../src/journal/journal-error.js';
import { TestAgent } from './test-agent.js';

const ASK = { endpointId: 'ep1' as EndpointId, workerId: 'w1' as WorkerId, slots: 1, waitMs: 8_000 };
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const json = (value: unknown): RawJson => encodeJson(value);

let clock: ManualClock;
let agent: TestAgent;
let stops: { readonly jobId: string; readonly reason: StopReason; readonly atMs: number }[];

const listen = (): void => {
  agent.client.onStop(({ ref }, reason) => stops.push({ jobId: ref.jobId, reason, atMs: clock.monotonicMs() }));
};

beforeEach(async () => {
  clock = new ManualClock(1_000_000);
  agent = await TestAgent.start(clock);
  stops = [];
  listen();
});
afterEach(() => agent.close());

async function takeOne(more: object = {}): Promise<TakenAttempt> {
  agent.router.submit({ input: json({ n: 1 }), ...more });
  const outcome = await agent.client.take(ASK);
  if (outcome.kind !== 'jobs' || outcome.jobs[0] === undefined) throw new Error(`take brought ${outcome.kind}`);
  await agent.client.prepare(outcome.jobs[0]);
  return outcome.jobs[0];
}
const holdOne = async (more: object = {}): Promise<Attempt> => (await takeOne(more)).attempt;
const complete = (attempt: Attempt, output: unknown = 'done'): Promise<string> =>
  agent.client.settle(attempt, { kind: 'completed', output: json(output) });

describe('leases', () => {
  test('of all jobs are renewed by one message every 10 s, and nothing is stopped', async () => {
    for (let count = 0; count < 5; count += 1) await holdOne();
    await agent.pass(60_000);
    expect(agent.router.countOf('renew')).toBe(6);
    const leases = agent.router.calls.filter(({ verb }) => verb === 'renew').map(({ request }) => request);
    expect(leases.map((request) => (request as { leases: unknown[] }).leases.length)).toEqual([5, 5, 5, 5, 5, 5]);
    expect(stops).toEqual([]);
  });

  test('of very many jobs are renewed in messages of 512 at most, each of them', async () => {
    for (let count = 0; count < 1_100; count += 1) agent.router.submit({ input: json({ n: count }) });
    const outcome = await agent.client.take({ ...ASK, slots: 1_100 });
    expect(outcome.kind === 'jobs' && outcome.jobs.length).toBe(1_100);
    await agent.pass(10_250);
    const pages = agent.router.calls.filter(({ verb }) => verb === 'renew').map(({ request }) => request);
    const leases = pages.map((request) => (request as { leases: readonly { readonly jobId: string }[] }).leases);
    expect(leases.map(({ length }) => length)).toEqual([512, 512, 76]);
    expect(new Set(leases.flat().map(({ jobId }) => jobId)).size).toBe(1_100);
    await agent.pass(20_000);
    expect(stops).toEqual([]);
  });

  test('that cannot be renewed are trusted until 25 s after the last renewal was sent', async () => {
    const attempt = await holdOne();
    await agent.pass(10_000);
    const sentAtMs = agent.router.calls.find(({ verb }) => verb === 'renew')?.atMs ?? 0;
    agent.router.down.add('renew');
    await agent.pass(24_000);
    expect(stops).toEqual([]);
    await agent.pass(2_000);
    expect(stops).toEqual([{ jobId: attempt.ref.jobId, reason: 'untrusted', atMs: sentAtMs + 25_000 }]);
  });

  test('report under the trace of the request that submitted them, after a restart too', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const attempt = await holdOne({ traceparent });
    expect(await complete(attempt)).toBe('accepted');
    await agent.pass(1_000);
    const [done] = agent.router.calls.filter(({ verb }) => verb === 'done');
    expect(done?.traceparent).toBe(traceparent);
  });

  test('are steps of a recorded trace, of which the worker is told its own; of no other', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    agent.router.submit({ input: json({}), traceparent });
    const outcome = await agent.client.take(ASK);
    const [taken] = outcome.kind === 'jobs' ? outcome.jobs : [];
    if (taken === undefined) throw new Error('nothing was taken');
    const told = JSON.parse((await agent.client.prepare(taken)) ?? '') as { readonly traceparent: string };
    await complete(taken.attempt);
    await agent.pass(1_000);
    const [prepare, run, report] = agent.spans;
    expect(agent.spans.map(({ name }) => name)).toEqual(['prepare job', 'process job', 'report end']);
    expect(run).toMatchObject({ kind: 'consumer', parentSpanId: 'b7ad6b7169203331', error: null });
    expect(told.traceparent).toBe(`00-0af7651916cd43dd8448eb211c80319c-${run?.context.spanId}-01`);
    expect([prepare, report].map((span) => span?.parentSpanId)).toEqual([run?.context.spanId, run?.context.spanId]);
    const other = await holdOne({ traceparent: traceparent.replace(/01$/, '00') });
    await complete(other);
    await agent.pass(1_000);
    expect(agent.spans).toHaveLength(3);
  });

  test('that are stopped or lost end their step with the reason', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const attempt = await holdOne({ traceparent });
    await agent.client.lose(attempt, { reason: 'its worker is gone', isCharged: true, logTail: [] });
    await agent.pass(1_000);
    const runs = agent.spans.filter(({ name }) => name === 'process job');
    expect(runs.map(({ error }) => error)).toEqual(['lost']);
  });

  test('do not gain trust from an answer that says unknown', async () => {
    await holdOne();
    agent.router.renewal = 'unknown';
    await agent.pass(26_000);
    expect(stops.map(({ reason }) => reason)).toEqual(['untrusted']);
  });

  test('stay renewed while a result waits for its acknowledgement', async () => {
    const attempt = await holdOne();
    agent.router.down.add('done');
    expect(await complete(attempt)).toBe('accepted');
    await agent.pass(40_000);
    expect(agent.router.countOf('renew')).toBe(4);
    expect(stops).toEqual([]);
  });

  test('that the router calls lost stop their job, and nothing is reported of it', async () => {
    const attempt = await holdOne();
    agent.router.takeAway(attempt.ref.jobId);
    await agent.pass(10_500);
    expect(stops.map(({ reason }) => reason)).toEqual(['superseded']);
    expect(await complete(attempt)).toBe('dropped');
    await agent.pass(1_000);
    expect(agent.router.ended.size).toBe(0);
    expect(agent.router.losses).toEqual([]);
  });

  test('count from the sending of the take: an answer that was held long is renewed soon', async () => {
    const taking = agent.client.take(ASK);
    await agent.pass(7_500);
    agent.router.submit({ input: json({}) });
    const outcome = await taking;
    expect(outcome.kind).toBe('jobs');
    await agent.pass(3_000);
    expect(agent.router.countOf('renew')).toBe(1);
  });

  test('of an answer that arrives when its trust is over: the job goes back uncharged', async () => {
    const taking = agent.client.take({ ...ASK, waitMs: 60_000 });
    await agent.pass(25_500);
    const jobId = agent.router.submit({ input: json({}) });
    expect(await taking).toEqual({ kind: 'none' });
    await eventually(() => {
      expect(agent.router.losses).toEqual([
        { jobId, attempt: 1, reason: 'it reached its host too late', isCharged: false },
      ]);
    });
  });
});

describe('time', () => {
  test('ends a job at its execution timeout: reported as timed out at once, its worker told to stop', async () => {
    const startedAtMs = clock.monotonicMs();
    const attempt = await holdOne({ executionTimeoutMs: 5_000 });
    await agent.pass(4_750);
    expect(stops).toEqual([]);
    await agent.pass(500);
    expect(stops).toEqual([{ jobId: attempt.ref.jobId, reason: 'timed-out', atMs: startedAtMs + 5_000 }]);
    await eventually(() => {
      expect(agent.router.ended.get(attempt.ref.jobId)?.result).toEqual({ kind: 'timed-out' });
    });
    expect(await complete(attempt)).toBe('dropped');
  });

  test('is kept to the millisecond: what comes between two looks of this host, but too late, does not count', async () => {
    const late = await holdOne({ executionTimeoutMs: 5_100 });
    const inTime = await holdOne({ executionTimeoutMs: 5_101 });
    await clock.advance(5_100);
    expect(await agent.client.addChunks(late, [json({ output: 1 })])).toBe('dropped');
    expect(await complete(late)).toBe('dropped');
    expect(await complete(inTime)).toBe('accepted');
    expect(stops).toEqual([{ jobId: late.ref.jobId, reason: 'timed-out', atMs: 1_005_100 }]);
    await eventually(() => {
      expect(agent.router.ended.get(late.ref.jobId)?.result).toEqual({ kind: 'timed-out' });
      expect(agent.router.ended.get(inTime.ref.jobId)?.result).toMatchObject({ kind: 'completed' });
    });
  });

  test('ends a job with its TTL: it is stopped, and nothing is reported of what is gone', async () => {
    await holdOne({ expiresInMs: 12_000 });
    await agent.pass(12_500);
    expect(stops.map(({ reason }) => reason)).toEqual(['expired']);
    expect(agent.router.countOf('done')).toBe(0);
    expect(agent.journal.list('attempt/')).toEqual([]);
  });
});

describe('a life that a caller has prolonged', () => {
  test('is the end that counts, and its worker goes on past the former one', async () => {
    const { ref } = await holdOne({ expiresInMs: 12_000 });
    await agent.pass(11_000);
    agent.router.prolong(ref.jobId, 60_000);
    await agent.pass(59_000);
    expect(stops).toEqual([]);
    await agent.pass(27_000);
    expect(stops).toHaveLength(1);
  });

  test('that no router can confirm is over soon after its end', async () => {
    await holdOne({ expiresInMs: 12_000 });
    await agent.pass(11_000);
    agent.router.down.add('renew');
    await agent.pass(7_000);
    expect(stops.map(({ reason }) => reason)).toEqual(['expired']);
  });
});

describe('a stop message', () => {
  test('stops the job it names and leaves no report', async () => {
    const attempt = await holdOne();
    agent.router.cancel(attempt.ref.jobId);
    expect(stops.map(({ reason }) => reason)).toEqual(['cancelled']);
    expect(await complete(attempt)).toBe('dropped');
    await eventually(() => {
      expect(agent.journal.list('attempt/')).toEqual([]);
    });
  });

  test('that overtakes the answer which brings its job keeps the job from being handed out', async () => {
    const jobId = agent.router.submit({ id: 'early', input: json({}) });
    agent.router.onGiven = (given) => agent.router.cancel(given);
    expect(await agent.client.take(ASK)).toEqual({ kind: 'none' });
    expect(stops).toEqual([]);
    await eventually(() => {
      expect(agent.router.letGo).toMatchObject([{ jobId, attempt: 1 }]);
    });
  });

  test('for an older attempt does not touch the present one', async () => {
    const jobId = agent.router.submit({ id: 'twice', input: json({}) });
    agent.router.takeAway(jobId);
    const outcome = await agent.client.take(ASK);
    expect(outcome.kind).toBe('jobs');
    agent.router.sendStop({ endpointId: 'ep1', jobId, attempt: 1, token: `token-${jobId}-1` });
    expect(stops).toEqual([]);
  });
});

describe('reports', () => {
  test('are repeated until a router has answered: chunks in order, then the end, each once', async () => {
    const attempt = await holdOne();
    agent.router.down = new Set(['chunk', 'done']);
    for (let index = 0; index < 30; index += 1) await agent.client.addChunks(attempt, [json({ output: index })]);
    await complete(attempt, 'end');
    await agent.pass(5_000);
    expect(agent.router.countOf('done')).toBe(0);
    agent.router.down.clear();
    agent.router.lossy = new Set(['chunk', 'done']);
    await agent.pass(15_000);
    agent.router.lossy.clear();
    await agent.pass(12_000);
    await eventually(() => {
      expect(agent.router.ended.get(attempt.ref.jobId)).toMatchObject({ output: 'end', chunks: 30 });
    });
    expect(agent.router.chunkTexts(attempt.ref.jobId)).toEqual(
      Array.from({ length: 30 }, (_, index) => `{"output":${index}}`),
    );
    const verbs = agent.router.calls.map(({ verb }) => verb).filter((verb) => verb === 'chunk' || verb === 'done');
    expect(verbs.lastIndexOf('chunk')).toBeLessThan(verbs.indexOf('done'));
    await eventually(() => {
      expect(agent.journal.list('').filter(({ key }) => key !== 'settled')).toEqual([]);
    });
  });

  test('of a large output send its parts first, and the whole has the hash that is told', async () => {
    const attempt = await holdOne();
    const output = 'ü'.repeat(1_000_000);
    await complete(attempt, output);
    await eventually(() => {
      expect(agent.router.ended.get(attempt.ref.jobId)?.output).toBe(output);
    });
    expect(agent.router.countOf('upload')).toBe(4);
  });

  test('of progress show the newest and none after the end', async () => {
    const attempt = await holdOne();
    agent.client.showProgress(attempt, json(1));
    agent.client.showProgress(attempt, json(2));
    agent.client.showProgress(attempt, json(3));
    await eventually(() => {
      expect(agent.router.progress.get(attempt.ref.jobId)?.at(-1)).toBe(3);
    });
    await complete(attempt);
    agent.client.showProgress(attempt, json(4));
    await agent.pass(1_000);
    expect(agent.router.progress.get(attempt.ref.jobId)).not.toContain(4);
  });

  test('end once: a second result and a chunk after the end are dropped', async () => {
    const attempt = await holdOne();
    const both = await Promise.all([complete(attempt, 'first'), complete(attempt, 'second')]);
    expect(both).toEqual(['accepted', 'dropped']);
    expect(await agent.client.addChunks(attempt, [json({ output: 1 })])).toBe('dropped');
    await eventually(() => {
      expect(agent.router.ended.get(attempt.ref.jobId)?.output).toBe('first');
    });
  });

  test('of chunks that the router refuses stop the job', async () => {
    const attempt = await holdOne();
    agent.router.takeAway(attempt.ref.jobId);
    await agent.client.addChunks(attempt, [json({ output: 1 })]);
    await eventually(() => {
      expect(stops.map(({ reason }) => reason)).toEqual(['superseded']);
    });
  });
});

describe('an input above the inline limit', () => {
  const large = { input: json({ text: 'x'.repeat(1_500_000) }) };

  test('is fetched in parts and verified', async () => {
    agent.router.submit(large);
    const outcome = await agent.client.take(ASK);
    if (outcome.kind !== 'jobs' || outcome.jobs[0] === undefined) throw new Error('no job');
    const text = await agent.client.prepare(outcome.jobs[0]);
    expect(JSON.parse(text ?? '')).toMatchObject({ input: JSON.parse(large.input) as unknown });
    expect(agent.router.countOf('download')).toBe(3);
  });

  test('that cannot be fetched sends its job back uncharged', async () => {
    agent.router.down.add('download');
    agent.router.submit({ ...large, traceparent: TRACEPARENT });
    const outcome = await agent.client.take(ASK);
    if (outcome.kind !== 'jobs' || outcome.jobs[0] === undefined) throw new Error('no job');
    const preparing = agent.client.prepare(outcome.jobs[0]);
    await agent.pass(5_000);
    expect(await preparing).toBeNull();
    await eventually(() => {
      expect(agent.router.losses).toMatchObject([{ isCharged: false, reason: 'it could not be prepared on its host' }]);
    });
    const { jobId } = outcome.jobs[0].attempt.ref;
    const line = { msg: 'A job could not be prepared for its worker.', jobId, traceId: TRACEPARENT.slice(3, 35) };
    expect(agent.logged).toEqual([expect.objectContaining(line)]);
  });
});

describe('after a restart', () => {
  async function restart(alive: readonly string[]): Promise<readonly Attempt[]> {
    const port = await agent.crash();
    await agent.open(port);
    listen();
    const attempts = await agent.client.restore((workerId) => alive.includes(workerId));
    agent.client.start();
    return attempts;
  }

  test('results and chunks that were acknowledged to the worker reach the router', async () => {
    const attempt = await holdOne();
    agent.router.down = new Set(['chunk', 'done', 'upload']);
    await agent.client.addChunks(attempt, [json({ output: 1 }), json({ output: 2 })]);
    await complete(attempt, 'y'.repeat(700_000));
    await restart([]);
    agent.router.down.clear();
    await agent.pass(2_000);
    await eventually(() => {
      expect(agent.router.ended.get(attempt.ref.jobId)).toMatchObject({ output: 'y'.repeat(700_000), chunks: 2 });
    });
    expect(agent.router.chunkTexts(attempt.ref.jobId)).toEqual(['{"output":1}', '{"output":2}']);
  });

  test('chunks go on with the index after the last, even when all before were acknowledged', async () => {
    const attempt = await holdOne();
    await agent.client.addChunks(attempt, [json({ output: 1 }), json({ output: 2 })]);
    await eventually(() => {
      expect(agent.router.chunkTexts(attempt.ref.jobId)).toHaveLength(2);
    });
    await agent.settle();
    const [again] = await restart(['w1']);
    if (again === undefined) throw new Error('not taken up again');
    await agent.client.addChunks(again, [json({ output: 3 })]);
    await complete(again);
    await eventually(() => {
      expect(agent.router.ended.get(attempt.ref.jobId)?.chunks).toBe(3);
    });
    expect(agent.router.chunkTexts(attempt.ref.jobId)).toEqual(['{"output":1}', '{"output":2}', '{"output":3}']);
  });

  test('a job of a living worker goes on once a renewal has said so, with the time it has left', async () => {
    const attempt = await holdOne({ executionTimeoutMs: 20_000 });
    await agent.pass(5_000);
    const [again] = await restart(['w1']);
    expect(again).toMatchObject({ id: attempt.id, state: 'open' });
    expect(agent.router.countOf('renew')).toBe(1);
    await agent.pass(14_000);
    expect(stops).toEqual([]);
    await agent.pass(1_500);
    expect(stops.map(({ reason }) => reason)).toEqual(['timed-out']);
  });

  test('a job whose lease is gone is stopped', async () => {
    const attempt = await holdOne();
    agent.router.takeAway(attempt.ref.jobId);
    await restart(['w1']);
    expect(stops.map(({ reason }) => reason)).toEqual(['superseded']);
  });

  test('a job that no router can speak for is stopped', async () => {
    await holdOne();
    agent.router.down.add('renew');
    await restart(['w1']);
    await agent.pass(500);
    expect(stops.map(({ reason }) => reason)).toEqual(['untrusted']);
  });

  test('a job whose worker is gone costs it an attempt', async () => {
    const attempt = await holdOne();
    expect(await restart([])).toEqual([]);
    await eventually(() => {
      expect(agent.router.losses).toEqual([
        { jobId: attempt.ref.jobId, attempt: 1, reason: 'its worker was gone after a restart', isCharged: true },
      ]);
    });
  });
});

test('a full journal takes no result, and takes it once there is room', async () => {
  agent.journalOptions = { logBytesMax: 100_000 };
  const port = await agent.crash();
  await agent.open(port);
  await agent.client.restore(() => false);
  const attempt = await holdOne();
  await agent.journal.put([{ key: 'fill', value: 'f'.repeat(90_000) }]);
  expect(agent.client.canTake).toBe(false);
  agent.router.down.add('done');
  await expect(complete(attempt, 'x'.repeat(20_000))).rejects.toThrow(JournalFullError);
  await agent.journal.remove(['fill']);
  expect(await complete(attempt, 'x'.repeat(20_000))).toBe('accepted');
});

test('a full journal still lets the host end an attempt', async () => {
  agent.journalOptions = { logBytesMax: 100_000 };
  const port = await agent.crash();
  await agent.open(port);
  await agent.client.restore(() => false);
  const attempt = await holdOne();
  await agent.journal.put([{ key: 'fill', value: 'f'.repeat(98_900) }]);
  await agent.client.lose(attempt, { reason: 'r'.repeat(900), isCharged: true, logTail: [] });
  await eventually(() => {
    expect(agent.router.losses).toMatchObject([{ isCharged: true }]);
  });
});

describe('a stop of the agent', () => {
  test('waits for what a held take brings, so that no job is missing until its lease runs out', async () => {
    const taking = agent.client.take(ASK);
    const stopping = agent.client.stop();
    await agent.pass(1_000);
    const jobId = agent.router.submit({ input: json({}) });
    const outcome = await taking;
    if (outcome.kind !== 'jobs' || outcome.jobs[0] === undefined) throw new Error('no job');
    agent.client.giveBack(outcome.jobs[0].attempt, 'its worker no longer waited for it');
    await agent.pass(500);
    await stopping;
    expect(agent.router.losses).toMatchObject([{ jobId, isCharged: false }]);
    expect(agent.client.canTake).toBe(false);
  });

  test('renews what goes on once more, for the next life to come in time', async () => {
    await holdOne();
    await agent.pass(3_000);
    expect(agent.router.countOf('renew')).toBe(0);
    await agent.client.stop();
    expect(agent.router.countOf('renew')).toBe(1);
  });

  test('waits for no router that does not answer', async () => {
    const attempt = await holdOne();
    agent.router.down.add('done');
    await complete(attempt);
    const stopping = agent.client.stop();
    await agent.pass(6_500);
    await stopping;
    expect(agent.journal.list('ending/')).toHaveLength(1);
  });
});
