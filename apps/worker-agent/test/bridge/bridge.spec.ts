import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeJson } from '@berth/domain';
import { ManualClock, eventually } from '@berth/testing';
import { TestAgent, registration } from './test-agent.js';
import { WorkerClient, type Answer } from './worker-client.js';

let clock: ManualClock;
let agent: TestAgent;
let worker: WorkerClient;

beforeEach(async () => {
  clock = new ManualClock(1_000_000);
  agent = await TestAgent.start(clock);
  worker = WorkerClient.register(agent, 'w1');
});
afterEach(() => agent.close());

const state = (id = 'w1') => agent.bridge.state(registration(id).workerId);
const submit = (more: object = {}): string => agent.router.submit({ input: encodeJson({ n: 1 }), ...more });

/** Waits until the router has had this many takes in all: the polls are parked. */
const parked = (takes: number): Promise<void> =>
  eventually(() => {
    expect(agent.router.countOf('take')).toBe(takes);
  });

const idOf = (answer: Answer): string => (answer.json as { id: string }).id;

async function runOne(more: object = {}): Promise<string> {
  submit(more);
  const jobId = idOf(await worker.take());
  await eventually(() => {
    expect(agent.eventsOf('job-started').map((event) => event.jobId)).toContain(jobId);
  });
  return jobId;
}

/** Lets time pass while the worker goes on pinging, as it does whatever its handler does. */
async function passWithPings(ms: number, jobIds: readonly string[]): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await agent.pass(Math.min(left, 5_000));
    await worker.ping(jobIds);
  }
}

describe('a parked take', () => {
  test('is held for 18 to 22 s, then answered with 204 and nothing else', async () => {
    const startedAtMs = clock.monotonicMs();
    let heldMs: number | null = null;
    const polling = worker.take().then((answer) => {
      heldMs = clock.monotonicMs() - startedAtMs;
      return answer;
    });
    await parked(1);
    for (let second = 0; heldMs === null && second < 30; second += 1) await agent.pass(1_000);
    expect(await polling).toMatchObject({ status: 204, text: '' });
    expect(heldMs).toBeGreaterThanOrEqual(18_000);
    expect(heldMs).toBeLessThanOrEqual(23_000);
  });

  test('asks the router for what the worker asked for, and never gives it more', async () => {
    for (let count = 0; count < 5; count += 1) submit();
    const { json } = await worker.takeBatch(3);
    expect((json as unknown[]).length).toBe(3);
    expect(agent.router.calls[0]?.request).toMatchObject({ slots: 3, workerId: 'w1', endpointId: 'ep1' });
    expect(state()).toMatchObject({ phase: 'busy', runningJobs: 3 });
  });

  test('of a batch is answered with a list even for one job', async () => {
    submit();
    expect((await worker.takeBatch(4)).json).toMatchObject([{ id: 'job-1', input: { n: 1 } }]);
  });

  test('stands beside others of the same worker, each with its own job', async () => {
    const polls = [worker.take(), worker.take(), worker.take()];
    await parked(3);
    submit();
    submit();
    submit();
    const ids = (await Promise.all(polls)).map(idOf);
    expect(ids.sort()).toEqual(['job-1', 'job-2', 'job-3']);
  });

  test('rides out routers that do not answer, and takes the job when they do', async () => {
    agent.router.down.add('take');
    const polling = worker.take();
    await parked(1);
    await agent.pass(5_000);
    const tries = agent.router.countOf('take');
    expect(tries).toBeGreaterThan(2);
    expect(tries).toBeLessThan(12);
    agent.router.down.clear();
    submit();
    await agent.pass(6_000);
    expect(await polling).toMatchObject({ status: 200 });
  });

  test('of a worker that the router does not know yet is held on', async () => {
    agent.router.isPlaced = false;
    const polling = worker.take();
    await parked(1);
    await agent.pass(2_000);
    agent.router.isPlaced = true;
    submit();
    await agent.pass(2_000);
    expect(idOf(await polling)).toBe('job-1');
  });

  test('of a worker that takes whatever it can get ends at 1,024 jobs, until it has done with one', async () => {
    for (let count = 0; count < 1_100; count += 1) submit();
    const batches: { id: string }[][] = [];
    for (const size of [10, ...Array.from({ length: 16 }, () => 64)]) {
      batches.push((await worker.takeBatch(size)).json as { id: string }[]);
    }
    expect(batches.map(({ length }) => length).slice(-2)).toEqual([64, 54]);
    expect(agent.router.calls.at(-1)?.request).toMatchObject({ slots: 54 });
    const polling = worker.takeBatch(64);
    await eventually(() => expect(clock.waiting).toBeGreaterThan(0));
    await agent.pass(5_000);
    expect(agent.router.countOf('take')).toBe(17);
    await worker.done(String(batches[0]?.[0]?.id), { output: 1 });
    await agent.pass(2_000);
    expect((await polling).json).toHaveLength(1);
    expect(state()).toMatchObject({ runningJobs: 1_024 });
  });

  test('of a worker with many of them open asks for no more jobs in all than the worker may hold', async () => {
    const polls = Array.from({ length: 20 }, () => worker.takeBatch(64));
    await parked(16);
    await agent.pass(1_000);
    for (let count = 0; count < 1_400; count += 1) submit();
    await eventually(async () => {
      await agent.pass(250);
      expect(state()?.runningJobs).toBe(1_024);
    });
    await agent.pass(3_000);
    expect(state()?.runningJobs).toBe(1_024);
    await agent.bridge.beginDrain(registration('w1').workerId);
    await Promise.all(polls);
  });

  test('is refused with 429 when one worker parks far too many', async () => {
    const polls = Array.from({ length: 64 }, () => worker.take());
    await parked(64);
    expect(await worker.take()).toMatchObject({ status: 429 });
    await agent.bridge.beginDrain(registration('w1').workerId);
    expect((await Promise.all(polls)).every(({ status }) => status === 204)).toBe(true);
  });
});

describe('a job counts as delivered only when its answer was flushed', () => {
  test('so one for a worker that has hung up goes to its other poll', async () => {
    const hangUp = new AbortController();
    const gone = worker.take('', hangUp.signal).catch((error: unknown) => error);
    await parked(1);
    hangUp.abort();
    await gone;
    const polling = worker.take();
    await parked(2);
    submit();
    expect(idOf(await polling)).toBe('job-1');
    expect(agent.router.losses).toEqual([]);
  });

  test('and goes back uncharged when no poll is left', async () => {
    const hangUp = new AbortController();
    const gone = worker.take('', hangUp.signal).catch((error: unknown) => error);
    await parked(1);
    hangUp.abort();
    await gone;
    const jobId = submit();
    await eventually(() => {
      expect(agent.router.losses).toEqual([
        { jobId, attempt: 1, reason: 'its worker no longer waited for it', isCharged: false },
      ]);
    });
    expect(state()).toMatchObject({ runningJobs: 0 });
    expect(agent.eventsOf('job-started')).toEqual([]);
  });
});

describe('a result', () => {
  test('is answered with 200 once it is on disk, while no router can be reached', async () => {
    const jobId = await runOne();
    agent.router.down = new Set(['done', 'renew']);
    expect(await worker.done(jobId, { output: 'kept' })).toMatchObject({ status: 200 });
    expect(agent.journal.list('ending/')).toHaveLength(1);
    expect(agent.eventsOf('job-ended')).toMatchObject([{ jobId, outcome: 'completed' }]);
    expect(state()).toMatchObject({ phase: 'idle', runningJobs: 0 });
    agent.router.down.clear();
    await agent.pass(15_000);
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.output).toBe('kept');
    });
  });

  test.each([
    ['application/json', {}],
    ['text/plain; charset=no-such-charset', {}],
    ['application/x-www-form-urlencoded; charset=', {}],
    ['multipart/form-data', {}],
    ['nonsense', {}],
    ['', {}],
  ])('is read as JSON when it says it is %j', async (contentType) => {
    const jobId = await runOne();
    const answer = await worker.call('POST', `/v2/ep1/job-done/w1/${jobId}?&isStream=false`, {
      body: '{"output":"a=b&c=%20+ü"}',
      headers: contentType === '' ? {} : { 'content-type': contentType },
    });
    expect(answer.status).toBe(200);
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.output).toBe('a=b&c=%20+ü');
    });
  });

  test('of a job that the worker does not hold, twice, or too late is answered with 200 and dropped', async () => {
    const jobId = await runOne();
    expect(await worker.done('never-given', { output: 1 })).toMatchObject({ status: 200 });
    expect(await worker.done(jobId, { output: 'first' })).toMatchObject({ status: 200 });
    expect(await worker.done(jobId, { output: 'second' })).toMatchObject({ status: 200 });
    expect(await worker.chunk(jobId, { output: 'late' })).toMatchObject({ status: 200 });
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.output).toBe('first');
    });
    expect(await agent.metric('berth_agent_results_dropped_total{reason="not-held"}')).toBe(3);
    expect(agent.router.chunkTexts(jobId)).toEqual([]);
  });

  test('posted twice at the same time counts once', async () => {
    const jobId = await runOne();
    const answers = await Promise.all([worker.done(jobId, { output: 1 }), worker.done(jobId, { output: 1 })]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await eventually(() => {
      expect(agent.router.countOf('done')).toBe(1);
    });
  });

  test('that another worker posts does not count', async () => {
    const jobId = await runOne();
    const other = WorkerClient.register(agent, 'w2');
    expect(await other.done(jobId, { output: 'forged' })).toMatchObject({ status: 200 });
    expect(state()).toMatchObject({ runningJobs: 1 });
    expect(agent.router.ended.has(jobId)).toBe(false);
  });

  test('of more than the bridge reads is answered with 200 and fails its job in words', async () => {
    const jobId = await runOne();
    const answer = await worker.done(jobId, Buffer.alloc(45 * 2 ** 20, 'x'));
    expect(answer.status).toBe(200);
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.result).toMatchObject({
        kind: 'failed',
        error: 'the output is too large: 47185920 bytes, at most 20971520 are allowed',
      });
    });
  });

  test('is answered with 503 when the journal is full, and accepted when it is sent again', async () => {
    agent.journalOptions = { logBytesMax: 100_000 };
    const port = await agent.crash();
    await agent.open(port);
    await agent.bridge.restore([registration('w1')]);
    const jobId = await runOne();
    await agent.journal.put([{ key: 'fill', value: 'f'.repeat(95_000) }]);
    agent.router.down.add('done');
    expect(await worker.done(jobId, { output: 'x'.repeat(9_000) })).toMatchObject({ status: 503 });
    expect(state()).toMatchObject({ runningJobs: 1 });
    await agent.journal.remove(['fill']);
    expect(await worker.done(jobId, { output: 'x'.repeat(9_000) })).toMatchObject({ status: 200 });
    agent.router.down.clear();
    await eventually(async () => {
      await agent.pass(1_000);
      expect(agent.router.ended.get(jobId)?.output).toBe('x'.repeat(9_000));
    });
  });

  test('with stopPod has its worker replaced, after the answer, and no job is given to it any more', async () => {
    const jobId = await runOne();
    const parkedTake = worker.take('&job_in_progress=1');
    await parked(2);
    expect(await worker.done(jobId, { output: 1, stopPod: true })).toMatchObject({ status: 200 });
    expect(await parkedTake).toMatchObject({ status: 204 });
    await eventually(() => {
      expect(agent.eventsOf('recycle-wanted')).toHaveLength(1);
    });
    expect(state()).toMatchObject({ wantsRecycle: 'the worker asked to be replaced' });
    submit();
    const late = worker.take();
    await agent.pass(2_500);
    expect(await late).toMatchObject({ status: 204 });
  });

  test('of progress shows while the job runs and is dropped after its end', async () => {
    const jobId = await runOne();
    await worker.done(jobId, { status: 'IN_PROGRESS', output: { step: 1 } });
    await eventually(() => {
      expect(agent.router.progress.get(jobId)).toEqual([{ step: 1 }]);
    });
    expect(state()).toMatchObject({ runningJobs: 1 });
    await worker.done(jobId, { output: 'end' });
    expect(await worker.done(jobId, { status: 'IN_PROGRESS', output: { step: 2 } })).toMatchObject({ status: 200 });
    await agent.pass(1_000);
    expect(agent.router.progress.get(jobId)).toEqual([{ step: 1 }]);
  });
});

describe('a caller', () => {
  test.each([
    ['Bearer and the token', (token: string) => `Bearer ${token}`],
    ['bearer in lower case', (token: string) => `bearer ${token}`],
    ['the bare token', (token: string) => token],
  ])('with %s is served', async (_, write) => {
    worker.token = write(worker.token);
    expect(await worker.ping()).toMatchObject({ status: 200 });
  });

  test.each([
    ['an unknown token', 'token-of-nobody'],
    ['no token', ''],
    ['the text None', 'None'],
  ])('with %s waits 5 s for its 401', async (_, token) => {
    worker.token = token;
    let isAnswered = false;
    const asking = worker.take().finally(() => {
      isAnswered = true;
    });
    await eventually(() => {
      expect(clock.waiting).toBeGreaterThan(2);
    });
    await agent.pass(4_500);
    expect(isAnswered).toBe(false);
    await agent.pass(750);
    expect(await asking).toMatchObject({ status: 401 });
  });

  test('on an unknown path waits for its 404 too', async () => {
    const asking = worker.call('GET', '/v2/ep1/metrics/w1');
    await eventually(() => {
      expect(clock.waiting).toBeGreaterThan(2);
    });
    await agent.pass(5_250);
    expect(await asking).toMatchObject({ status: 404 });
  });

  test('whose worker is gone has a last result answered with 200 and dropped', async () => {
    const jobId = await runOne();
    await agent.bridge.unregister(registration('w1').workerId, { reason: 'killed', isFault: false });
    expect(await worker.done(jobId, { output: 'too late' })).toMatchObject({ status: 200 });
    await agent.pass(1_000);
    expect(agent.router.ended.has(jobId)).toBe(false);
  });
});

describe('a running job that must stop', () => {
  test('is named on the stop channel, again every second, until the worker says it runs nothing', async () => {
    const jobId = await runOne();
    const stopping = worker.stops();
    await eventually(() => {
      expect(clock.waiting).toBeGreaterThan(2);
    });
    await agent.pass(1_000);
    agent.router.cancel(jobId);
    expect((await stopping).json).toEqual({ jobsToStop: [jobId] });
    const again = worker.stops();
    await agent.pass(1_250);
    expect((await again).json).toEqual({ jobsToStop: [jobId] });
    void worker.take('&job_in_progress=0').catch(() => undefined);
    await eventually(() => {
      expect(agent.eventsOf('job-ended')).toMatchObject([{ jobId, outcome: 'stopped' }]);
    });
    await agent.pass(15_000);
    expect(agent.eventsOf('kill-needed')).toEqual([]);
    expect(agent.router.ended.has(jobId)).toBe(false);
  });

  test('is let go when a ping no longer names it, while its neighbour runs on', async () => {
    const first = await runOne();
    const second = await runOne();
    await worker.ping([first, second]);
    agent.router.cancel(first);
    await agent.pass(6_000);
    await worker.ping([second]);
    await eventually(() => {
      expect(agent.eventsOf('job-ended')).toMatchObject([{ jobId: first, outcome: 'stopped' }]);
    });
    await passWithPings(10_000, [second]);
    expect(state()).toMatchObject({ runningJobs: 1 });
    expect(agent.eventsOf('kill-needed')).toEqual([]);
  });

  test('of a worker without a stop channel costs its process after 10 s, and its neighbour no attempt', async () => {
    const cancelled = await runOne();
    const neighbour = await runOne();
    agent.router.cancel(cancelled);
    await passWithPings(9_500, [cancelled, neighbour]);
    expect(agent.eventsOf('kill-needed')).toEqual([]);
    await agent.pass(1_000);
    expect(agent.eventsOf('kill-needed')).toEqual([
      { kind: 'kill-needed', workerId: 'w1', reason: `job ${cancelled} did not stop` },
    ]);
    await agent.bridge.unregister(registration('w1').workerId, { reason: 'exited with code 137', isFault: true });
    await eventually(() => {
      expect(agent.router.losses).toEqual([
        { jobId: neighbour, attempt: 1, reason: 'its worker was killed to stop another job', isCharged: false },
      ]);
    });
    expect(agent.eventsOf('job-ended')).toContainEqual(
      expect.objectContaining({ jobId: cancelled, outcome: 'stopped' }),
    );
  });

  test('asks for the kill again while nobody has done it', async () => {
    const jobId = await runOne();
    agent.router.cancel(jobId);
    await passWithPings(21_000, [jobId]);
    expect(agent.eventsOf('kill-needed').length).toBeGreaterThanOrEqual(2);
  });

  test('by its execution timeout is TIMED_OUT at once, and its late result is dropped', async () => {
    const jobId = await runOne({ executionTimeoutMs: 5_000 });
    await agent.pass(5_500);
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.result).toEqual({ kind: 'timed-out' });
    });
    expect(state()).toMatchObject({ runningJobs: 1 });
    expect(await worker.done(jobId, { output: 'at last' })).toMatchObject({ status: 200 });
    expect(agent.eventsOf('job-ended')).toMatchObject([{ jobId, outcome: 'timed-out' }]);
    expect(state()).toMatchObject({ runningJobs: 0 });
  });

  test('for want of renewal may still finish: its result is sent and the router decides', async () => {
    const jobId = await runOne();
    agent.router.down.add('renew');
    await passWithPings(26_000, [jobId]);
    expect(await worker.done(jobId, { output: 'just in time' })).toMatchObject({ status: 200 });
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.output).toBe('just in time');
    });
  });
});

describe('a job that its worker lost', () => {
  test('costs an attempt one ping after the worker said that it runs nothing', async () => {
    const jobId = await runOne();
    await worker.ping([jobId]);
    await agent.pass(5_000);
    void worker.take('&job_in_progress=0').catch(() => undefined);
    await parked(2);
    expect(agent.router.losses).toEqual([]);
    await agent.pass(2_000);
    await worker.ping([]);
    await eventually(() => {
      expect(agent.router.losses).toEqual([
        { jobId, attempt: 1, reason: 'the worker no longer knew the job', isCharged: true },
      ]);
    });
  });

  test('by falling silent costs an attempt after three ping intervals, and the worker is to be killed', async () => {
    const jobId = await runOne();
    await worker.ping([jobId]);
    await agent.pass(34_000);
    expect(agent.router.losses).toEqual([]);
    await agent.pass(2_000);
    await eventually(() => {
      expect(agent.router.losses).toMatchObject([{ jobId, reason: 'the worker stopped answering', isCharged: true }]);
    });
    expect(agent.eventsOf('kill-needed')).toMatchObject([{ reason: 'the worker stopped answering' }]);
  });

  test.each([
    [true, true],
    [false, false],
  ])('with its process costs an attempt when that is a fault: %s', async (isFault, isCharged) => {
    const jobId = await runOne();
    await agent.bridge.unregister(registration('w1').workerId, { reason: 'worker exited with code 1', isFault });
    await eventually(() => {
      expect(agent.router.losses).toEqual([{ jobId, attempt: 1, reason: 'worker exited with code 1', isCharged }]);
    });
    expect(state()).toBeNull();
  });
});

describe('a drain', () => {
  test('answers what is parked with 204, holds what comes for a short time, and hands out no job', async () => {
    const take = worker.take();
    const stop = worker.stops();
    await parked(1);
    await eventually(() => {
      expect(clock.waiting).toBeGreaterThan(3);
    });
    await agent.bridge.beginDrain(registration('w1').workerId);
    expect((await Promise.all([take, stop])).map(({ status }) => status)).toEqual([204, 204]);
    expect(state()).toMatchObject({ phase: 'draining' });
    const jobId = submit();
    const late = worker.take();
    await agent.pass(2_250);
    expect(await late).toMatchObject({ status: 204 });
    expect(agent.router.stateOf(jobId)).toBe('queued');
    expect(agent.router.losses).toEqual([]);
  });

  test('answers what an idle worker parked before it heard SIGTERM soon after that, and holds what comes later', async () => {
    await agent.bridge.beginDrain(registration('w1').workerId);
    const waiting = clock.waiting;
    const parkedCalls = [worker.take(), worker.stops()];
    await eventually(() => expect(clock.waiting).toBe(waiting + parkedCalls.length));
    agent.bridge.noteAskedToEnd(registration('w1').workerId);
    await clock.advance(100);
    expect((await Promise.all(parkedCalls)).map(({ status }) => status)).toEqual([204, 204]);
    let isAnswered = false;
    const deaf = worker.take().finally(() => {
      isAnswered = true;
    });
    await eventually(() => expect(clock.waiting).toBe(waiting + 1));
    await agent.pass(1_750);
    expect(isAnswered).toBe(false);
    await agent.pass(500);
    expect(await deaf).toMatchObject({ status: 204 });
  });

  test('lets a running job end, and still stops one that is cancelled', async () => {
    const running = await runOne();
    const cancelled = await runOne();
    await agent.bridge.beginDrain(registration('w1').workerId);
    agent.router.cancel(cancelled);
    expect((await worker.stops()).json).toEqual({ jobsToStop: [cancelled] });
    expect(await worker.done(running, { output: 'finished' })).toMatchObject({ status: 200 });
    await eventually(() => {
      expect(agent.router.ended.get(running)?.output).toBe('finished');
    });
  });

  test('of an unknown worker is done already', async () => {
    await agent.bridge.beginDrain(registration('nobody').workerId);
    agent.bridge.noteAskedToEnd(registration('nobody').workerId);
    await agent.bridge.unregister(registration('nobody').workerId, { reason: 'x', isFault: true });
  });
});

describe('a worker that goes', () => {
  const WORKER = { endpointId: 'ep1', workerId: 'w1' };

  test('leaves no take behind at a router: the next job waits for a worker that is there', async () => {
    const polls = [worker.take(), worker.take()];
    await parked(2);
    await agent.bridge.unregister(registration('w1').workerId, { reason: 'it was removed', isFault: false });
    await Promise.all(polls);
    expect(agent.router.withdrawals).toEqual([WORKER]);
    const jobId = submit();
    await agent.pass(6_000);
    expect(agent.router.stateOf(jobId)).toBe('queued');
    expect(agent.router.attemptOf(jobId)).toBe(1);
    const next = WorkerClient.register(agent, 'w2');
    expect(idOf(await next.take())).toBe(jobId);
  });

  test('gives back what crossed with the withdrawal, uncharged', async () => {
    agent.router.hearsWithdrawals = false;
    const polling = worker.take();
    await parked(1);
    await agent.bridge.unregister(registration('w1').workerId, { reason: 'killed', isFault: false });
    expect(await polling).toMatchObject({ status: 204 });
    const jobId = submit();
    await eventually(() => {
      expect(agent.router.losses).toMatchObject([
        { jobId, reason: 'its worker no longer waited for it', isCharged: false },
      ]);
    });
  });

  test('withdraws nothing where it has asked for nothing', async () => {
    await agent.bridge.unregister(registration('w1').workerId, { reason: 'killed', isFault: false });
    expect(agent.router.withdrawals).toEqual([]);
  });
});

describe('an older attempt that a worker still holds', () => {
  test('keeps the same job from being given to it again', async () => {
    const jobId = await runOne();
    agent.router.takeAway(jobId);
    agent.router.requeue(jobId);
    const polling = worker.take('&job_in_progress=1');
    await eventually(() => {
      expect(agent.router.losses).toContainEqual(
        expect.objectContaining({ jobId, reason: 'its worker still holds an older attempt of it', isCharged: false }),
      );
    });
    expect(agent.eventsOf('job-started')).toHaveLength(1);
    expect(await worker.done(jobId, { output: 'old' })).toMatchObject({ status: 200 });
    await agent.pass(3_000);
    expect(await polling).toMatchObject({ status: 200 });
  });
});

describe('an agent that leaves', () => {
  test('gives out no job, and waits for those that run', async () => {
    const jobId = await runOne();
    const [polling, stops] = [worker.take('&job_in_progress=1'), worker.stops()];
    await parked(2);
    await eventually(() => expect(clock.waiting).toBeGreaterThan(3));
    const leaving = agent.bridge.finishJobs(5_000).then(() => 'left');
    expect((await Promise.all([polling, stops])).map(({ status }) => status)).toEqual([204, 204]);
    const next = submit();
    void worker.take('&job_in_progress=1').catch(() => undefined);
    await agent.pass(2_000);
    await worker.done(jobId, { output: 'in time' });
    await agent.pass(250);
    expect(await leaving).toBe('left');
    expect(agent.router.ended.get(jobId)).toMatchObject({ output: 'in time' });
    expect([agent.router.stateOf(next), agent.router.losses]).toEqual(['queued', []]);
  });

  test('leaves behind what runs for longer, and finds it again', async () => {
    const jobId = await runOne();
    let hasLeft = false;
    const leaving = agent.bridge.finishJobs(5_000).then(() => (hasLeft = true));
    await agent.pass(4_500);
    expect(hasLeft).toBe(false);
    await agent.pass(500);
    await leaving;
    const port = await agent.crash();
    await agent.open(port);
    await agent.bridge.restore([registration('w1')]);
    await worker.done(jobId, { output: 'later' });
    await eventually(() => expect(agent.router.ended.get(jobId)).toMatchObject({ output: 'later' }));
    expect(agent.router.losses).toEqual([]);
  });
});

describe('a restart of the agent', () => {
  test('keeps port, token and running job: the result posted while it came up is not refused', async () => {
    const jobId = await runOne();
    await worker.ping([jobId], '1.10.1');
    const port = await agent.crash();
    await agent.open(port);
    const posting = worker.done(jobId, { output: 'over the restart' });
    const unknown = worker.take();
    await eventually(() => {
      expect(clock.waiting).toBeGreaterThanOrEqual(2);
    });
    await agent.bridge.restore([registration('w1')]);
    expect(await posting).toMatchObject({ status: 200 });
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.output).toBe('over the restart');
    });
    const next = submit();
    expect(idOf(await unknown)).toBe(next);
  });

  test('whose port another process has taken meanwhile listens on another one, and says where', async () => {
    const port = await agent.crash();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    await expect(agent.open(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await agent.open(port, 0);
    expect(agent.bridge.port).not.toBe(port);
    expect(agent.bridge.address).toBe(`127.0.0.1:${agent.bridge.port}`);
    await agent.bridge.restore([]);
    other.close();
  });

  test.each(['take', 'ping'] as const)('that takes a result with it costs no attempt, told by a %s', async (sign) => {
    const jobId = await runOne();
    await worker.ping([jobId]);
    const port = await agent.crash();
    await expect(worker.done(jobId, { output: 'to nobody' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await agent.open(port);
    await agent.bridge.restore([registration('w1')]);
    await agent.pass(2_000);
    void worker.take().catch(() => undefined);
    await parked(2);
    await agent.pass(13_000);
    expect(agent.router.losses).toEqual([]);
    if (sign === 'ping') await worker.ping([]);
    else void worker.take().catch(() => undefined);
    const reason = 'the worker no longer knew the job after its agent had been away';
    await eventually(() => {
      expect(agent.router.losses).toEqual([{ jobId, attempt: 1, reason, isCharged: false }]);
    });
  });

  test('is charged once it has taken the result of a job with it thrice', async () => {
    const jobId = await runOne();
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      if (attempt > 1) expect(idOf(await worker.take())).toBe(jobId);
      const port = await agent.crash();
      await agent.open(port);
      await agent.bridge.restore([registration('w1')]);
      await agent.pass(2_000);
      await worker.ping([jobId]);
      await agent.pass(2_000);
      await worker.ping();
      await agent.pass(2_000);
      await worker.ping();
      await eventually(() => expect(agent.router.losses).toHaveLength(attempt));
    }
    expect(agent.router.losses.map(({ isCharged }) => isCharged)).toEqual([false, false, false, true]);
  });

  test('stops what was cancelled while it was away', async () => {
    const jobId = await runOne();
    const port = await agent.crash();
    agent.router.cancel(jobId);
    await agent.open(port);
    await agent.bridge.restore([registration('w1')]);
    expect((await worker.stops()).json).toEqual({ jobsToStop: [jobId] });
    expect(state()).toMatchObject({ runningJobs: 1 });
  });

  test('gives back what a worker held that did not come back', async () => {
    const jobId = await runOne();
    const port = await agent.crash();
    await agent.open(port);
    await agent.bridge.restore([]);
    await eventually(() => {
      expect(agent.router.losses).toMatchObject([{ jobId, isCharged: true }]);
    });
  });
});

test('a failed check of its own has the worker replaced, with the reason', async () => {
  const target = '/v2/ep1/ping/w1?gpu=cpu&status=unhealthy&check=cuda&reason=no+device&runpod_version=1.11.0';
  expect(await worker.call('GET', target)).toMatchObject({ status: 200 });
  expect(agent.eventsOf('recycle-wanted')).toEqual([
    { kind: 'recycle-wanted', workerId: 'w1', reason: 'the worker\'s own check "cuda" failed: no device' },
  ]);
});

test('the state tells what the calls have shown', async () => {
  expect(state()).toMatchObject({
    phase: 'starting',
    hasPolled: false,
    hasCalled: false,
    sdkVersion: null,
    lastPingAtMs: null,
  });
  const polling = worker.take();
  await parked(1);
  expect(state()).toMatchObject({ phase: 'idle', hasPolled: true, hasCalled: true });
  expect(agent.eventsOf('first-poll')).toEqual([{ kind: 'first-poll', workerId: 'w1' }]);
  await worker.ping([], '1.7.6');
  expect(state()).toMatchObject({ sdkVersion: '1.7.6', lastPingAtMs: clock.nowMs(), latestDeadlineAtMs: null });
  submit({ executionTimeoutMs: 7_000 });
  await polling;
  expect(state()).toMatchObject({ phase: 'busy', latestDeadlineAtMs: clock.nowMs() + 7_000 });
});

test('registering twice with one token is harmless, with another it is a defect', () => {
  agent.bridge.registerWorker(registration('w1'));
  expect(() => agent.bridge.registerWorker(registration('w1', { token: 'another-token-0123456789' }))).toThrow(
    /registered already/,
  );
});

test('how long a worker has had no job is not changed by whoever sets the clock of the machine', async () => {
  const jobId = await runOne();
  await worker.done(jobId, { output: 1 });
  await agent.pass(3_000);
  for (const byMs of [3_600_000, -7_200_000]) {
    clock.jump(byMs);
    expect(clock.nowMs() - (state()?.lastJobEndedAtMs ?? 0)).toBe(3_000);
  }
});

describe('a job whose trace is recorded', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const delivery = () => agent.spans.filter(({ name }) => name === 'deliver job');

  test('has the step in which its worker is given it, beside the one in which it is prepared', async () => {
    submit({ traceparent });
    const { json } = await worker.take();
    await eventually(() => {
      expect(delivery()).toMatchObject([{ error: null, attributes: { 'berth.worker.id': 'w1' } }]);
    });
    const ownStep = (json as { traceparent: string }).traceparent.split('-')[2];
    const ofHost = agent.spans.map(({ name, parentSpanId }) => [name, parentSpanId]);
    expect(ofHost).toEqual([
      ['prepare job', ownStep],
      ['deliver job', ownStep],
    ]);
  });

  test('says so where its worker hung up before it had all of it', async () => {
    submit({ traceparent, input: encodeJson('x'.repeat(16_000_000)) });
    const socket = connect(agent.bridge.port, '127.0.0.1');
    socket.write(`GET /v2/ep1/job-take/w1?gpu=cpu HTTP/1.1\r\nHost: h\r\nAuthorization: ${worker.token}\r\n\r\n`);
    await once(socket, 'readable');
    socket.destroy();
    await eventually(() => {
      expect(delivery()).toMatchObject([{ error: 'undelivered' }]);
    });
  });
});
