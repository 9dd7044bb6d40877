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

const W1 = registration('w1').workerId;
const state = () => agent.bridge.state(W1);
const submit = (more: object = {}): string => agent.router.submit({ input: encodeJson({ n: 1 }), ...more });
const idOf = (answer: Answer): string => (answer.json as { id: string }).id;
const letGo = (jobId: string): number | null => agent.router.letGo.find((each) => each.jobId === jobId)?.atMs ?? null;

async function runOne(more: object = {}): Promise<string> {
  submit(more);
  const jobId = idOf(await worker.take('&job_in_progress=1'));
  await eventually(() => {
    expect(agent.eventsOf('job-started').map((event) => event.jobId)).toContain(jobId);
  });
  return jobId;
}

/** A worker that pings as it always does, and says which jobs it has. */
async function passWithPings(ms: number, jobIds: readonly string[]): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await agent.pass(Math.min(left, 5_000));
    await worker.ping(jobIds);
  }
}

/** The router has heard when the worker let go of it, and nothing of it is left on this host. */
const heard = (jobId: string): Promise<number> =>
  eventually(() => {
    const atMs = letGo(jobId);
    if (atMs === null) throw new Error('the router has not heard that the job was let go');
    expect(agent.journal.list('').filter(({ key }) => key !== 'settled')).toEqual([]);
    // The agent says in whole milliseconds how long ago it was.
    return Math.round(atMs);
  });

async function restart(workers = [registration('w1')]): Promise<void> {
  const port = await agent.crash();
  await agent.open(port);
  await agent.bridge.restore(workers);
}

describe('a stop', () => {
  test('is told at once, whatever else was told just before', async () => {
    const first = await runOne();
    const second = await runOne();
    const polling = worker.stops();
    await agent.pass(250);
    agent.router.cancel(first);
    expect((await polling).json).toEqual({ jobsToStop: [first] });
    const next = worker.stops();
    await eventually(() => expect(agent.events.length).toBeGreaterThan(0));
    agent.router.cancel(second);
    expect((await next).json).toEqual({ jobsToStop: [first, second] });
    const third = worker.stops();
    const toldAtMs = clock.monotonicMs();
    for (let step = 0; step < 6; step += 1) await agent.pass(250);
    expect((await third).json).toEqual({ jobsToStop: [first, second] });
    expect(clock.monotonicMs() - toldAtMs).toBeLessThanOrEqual(1_500);
  });

  test('is told for as long as the job holds on, and then costs the worker after 10 s', async () => {
    const jobId = await runOne();
    agent.router.cancel(jobId);
    const cancelledAtMs = clock.monotonicMs();
    let told = 0;
    while (agent.eventsOf('kill-needed').length === 0) {
      const polling = worker.stops();
      for (let step = 0; step < 5; step += 1) await agent.pass(250);
      if ((await Promise.race([polling, Promise.resolve(null)]))?.status === 200) told += 1;
      await worker.ping([jobId]);
    }
    expect(told).toBeGreaterThanOrEqual(6);
    expect(clock.monotonicMs() - cancelledAtMs).toBeGreaterThanOrEqual(10_000);
    expect(clock.monotonicMs() - cancelledAtMs).toBeLessThanOrEqual(11_500);
  });

  test('of one job among several costs the worker after 10 s sharp where it holds on', async () => {
    const cancelled = await runOne();
    const neighbour = await runOne();
    void worker.stops().catch(() => undefined);
    agent.router.cancel(cancelled);
    await passWithPings(9_750, [cancelled, neighbour]);
    expect(agent.eventsOf('kill-needed')).toEqual([]);
    await agent.pass(750);
    expect(agent.eventsOf('kill-needed')).toHaveLength(1);
  });

  test('that comes while its job is on the way keeps it from the worker, and the router hears so', async () => {
    agent.router.down.add('download');
    const jobId = submit({ input: encodeJson({ text: 'x'.repeat(1_500_000) }) });
    void worker.take().catch(() => undefined);
    await eventually(() => expect(agent.router.countOf('download')).toBeGreaterThan(0));
    agent.router.cancel(jobId);
    agent.router.down.clear();
    await agent.pass(1_000);
    expect(await heard(jobId)).toBeLessThanOrEqual(clock.monotonicMs());
    expect(agent.eventsOf('job-started')).toEqual([]);
    expect(state()).toMatchObject({ runningJobs: 0 });
  });
});

describe('a worker that was told to stop a job', () => {
  test('has let go once it says that it runs nothing: the router hears when that was', async () => {
    const jobId = await runOne();
    agent.router.cancel(jobId);
    await agent.pass(2_000);
    expect(state()).toMatchObject({ phase: 'busy', runningJobs: 1 });
    expect(letGo(jobId)).toBeNull();
    const atMs = clock.monotonicMs();
    void worker.take('&job_in_progress=0').catch(() => undefined);
    expect(await heard(jobId)).toBe(atMs);
    expect(state()).toMatchObject({ runningJobs: 0 });
  });

  test('and posts a result all the same has let go then, with its last words, and the result is dropped', async () => {
    agent.workerLog = ['CancelledError'];
    const jobId = await runOne();
    agent.router.cancel(jobId);
    await agent.pass(4_000);
    const atMs = clock.monotonicMs();
    expect(await worker.done(jobId, { output: 'too late' })).toMatchObject({ status: 200 });
    expect(await heard(jobId)).toBe(atMs);
    expect(agent.router.letGo[0]?.logTail).toEqual(['CancelledError']);
    expect(agent.router.ended.has(jobId)).toBe(false);
  });

  test('and dies of it has let go then; its other jobs are queued again, uncharged, with its last words', async () => {
    agent.workerLog = ['loading', 'busy'];
    const cancelled = await runOne();
    const neighbour = await runOne();
    agent.router.cancel(cancelled);
    await passWithPings(10_500, [cancelled, neighbour]);
    expect(agent.eventsOf('kill-needed')).toHaveLength(1);
    await agent.bridge.unregister(W1, { reason: 'worker exited with code 137: killed', isFault: true });
    await eventually(() => expect(letGo(cancelled)).toBe(clock.monotonicMs()));
    await eventually(() => {
      expect(agent.router.losses).toEqual([
        { jobId: neighbour, attempt: 1, reason: 'its worker was killed to stop another job', isCharged: false },
      ]);
    });
    expect(agent.router.logTails).toEqual([['loading', 'busy']]);
    expect(agent.router.letGo.map(({ logTail }) => logTail)).toEqual([['loading', 'busy']]);
  });

  test('after a timeout has let go in the eyes of a router that knows of the timeout, not before', async () => {
    const jobId = await runOne({ executionTimeoutMs: 5_000 });
    agent.router.down.add('done');
    await passWithPings(6_000, [jobId]);
    await worker.done(jobId, { output: 'late' });
    const atMs = clock.monotonicMs();
    await agent.pass(3_000);
    agent.router.down.clear();
    await agent.pass(12_000);
    expect(await heard(jobId)).toBe(atMs);
    expect(agent.router.ended.get(jobId)?.result).toEqual({ kind: 'timed-out' });
    expect(agent.router.superseded).toEqual([]);
  });

  test('after the TTL has nothing left to be told of', async () => {
    const jobId = await runOne({ expiresInMs: 12_000 });
    await passWithPings(13_000, [jobId]);
    expect(state()).toMatchObject({ runningJobs: 1 });
    await worker.done(jobId, { output: 'late' });
    await eventually(() => {
      expect(agent.journal.list('').filter(({ key }) => key !== 'settled')).toEqual([]);
    });
    expect(agent.router.countOf('done')).toBe(0);
  });

  test('gets the word through when routers do not answer, once', async () => {
    const jobId = await runOne();
    agent.router.cancel(jobId);
    agent.router.down.add('done');
    const atMs = clock.monotonicMs();
    await worker.done(jobId, { output: 'late' });
    await agent.pass(5_000);
    expect(letGo(jobId)).toBeNull();
    agent.router.down.clear();
    agent.router.lossy.add('done');
    await agent.pass(12_000);
    agent.router.lossy.clear();
    await agent.pass(12_000);
    expect(await heard(jobId)).toBe(atMs);
    expect(agent.router.letGo).toHaveLength(1);
  });
});

describe('after a restart of the agent', () => {
  test('a cancelled job that its worker still has is told again, holds its slot, and costs the worker after 10 s', async () => {
    const jobId = await runOne();
    agent.router.cancel(jobId);
    await agent.pass(3_000);
    await restart();
    expect(state()).toMatchObject({ phase: 'busy', runningJobs: 1 });
    expect(agent.router.countOf('renew')).toBe(0);
    expect((await worker.stops()).json).toEqual({ jobsToStop: [jobId] });
    await passWithPings(9_500, [jobId]);
    expect(agent.eventsOf('kill-needed')).toEqual([]);
    await agent.pass(1_000);
    expect(agent.eventsOf('kill-needed')).toMatchObject([{ reason: `job ${jobId} did not stop` }]);
    await agent.bridge.unregister(W1, { reason: 'killed', isFault: true });
    expect(await heard(jobId)).toBe(clock.monotonicMs());
    expect(agent.router.losses).toEqual([]);
  });

  test('so is one that had timed out, whether or not a router had heard of it', async () => {
    const known = await runOne({ executionTimeoutMs: 5_000 });
    await passWithPings(5_500, [known]);
    await eventually(() => expect(agent.router.ended.has(known)).toBe(true));
    const unknown = await runOne({ executionTimeoutMs: 5_000 });
    agent.router.down.add('done');
    await passWithPings(5_500, [known, unknown]);
    await restart();
    agent.router.down.clear();
    expect(state()).toMatchObject({ runningJobs: 2 });
    const told = (await worker.stops()).json as { jobsToStop: string[] };
    expect(told.jobsToStop.sort()).toEqual([known, unknown].sort());
    await worker.done(known, { output: 1 });
    await worker.done(unknown, { output: 2 });
    await agent.pass(12_000);
    await heard(known);
    await heard(unknown);
    expect(agent.router.ended.get(unknown)?.result).toEqual({ kind: 'timed-out' });
  });

  test('the word that a job was let go is sent on, with its instant and its last words', async () => {
    agent.workerLog = ['stopping'];
    const jobId = await runOne();
    agent.router.cancel(jobId);
    agent.router.down.add('done');
    await worker.done(jobId, { output: 'late' });
    const atMs = clock.monotonicMs();
    await agent.pass(2_000);
    await restart();
    agent.router.down.clear();
    await agent.pass(12_000);
    expect(await heard(jobId)).toBe(atMs);
    expect(agent.router.letGo[0]?.logTail).toEqual(['stopping']);
    expect(state()).toMatchObject({ runningJobs: 0 });
  });

  test('a job whose worker did not come back was let go', async () => {
    const jobId = await runOne();
    agent.router.cancel(jobId);
    await agent.pass(1_000);
    await restart([]);
    expect(await heard(jobId)).toBe(clock.monotonicMs());
  });
});
