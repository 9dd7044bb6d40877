import type { AttemptRef, TakenJob, WishAnswer, WorkerWish } from '@berth/contracts';
import { PlatformError, type EndpointId, type RawJson } from '@berth/domain';
import { eventually, letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AgentsScene, ENDPOINT, HOST, WORKER, boxOf } from '../../../test/model/agents-scene.js';
import { sealExtras } from '../../request-bodies/index.js';
import { GiveBack, type UndeliveredJobs } from './give-back.js';
import { JobUnsealer } from './job-unsealer.js';
import { JobTaking, type Taken } from './job-taking.js';

const WISH: WorkerWish = { takeId: 'wish', endpointId: ENDPOINT, workerId: WORKER, slots: 4, waitMs: 5_000 };

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';

let scene: AgentsScene;
let giveBack: GiveBack;
let unopened: number;

beforeEach(() => {
  scene = new AgentsScene();
  giveBack = new GiveBack({ ...scene, owners: scene.attempts });
  unopened = 0;
});

function takingOf(fill = 1): JobTaking {
  const onUnopened = (): void => {
    unopened += 1;
  };
  const opener = new JobUnsealer({ ...scene, owners: scene.attempts, secrets: boxOf(fill), onUnopened });
  return new JobTaking({ ...scene, opener, giveBack });
}

interface Told {
  readonly answer: WishAnswer | undefined;
  readonly given: readonly UndeliveredJobs[];
  readonly jobs: readonly AttemptRef[];
}

/** Asks with one wish. */
async function take(taking: JobTaking, wish: WorkerWish = WISH): Promise<Told> {
  const parts: Taken[] = [];
  await taking.take(HOST, { wishes: [wish] }, (taken) => parts.push(taken));
  expect(parts).toHaveLength(1);
  const given = parts[0]?.given ?? [];
  return { answer: parts[0]?.reply.answers[0], given, jobs: given.flatMap(({ jobs }) => jobs) };
}

const jobsOf = ({ answer }: Told): readonly TakenJob[] => (answer?.kind === 'jobs' ? answer.jobs : []);

const stateOf = (jobId: string): string | undefined =>
  scene.job({ endpointId: ENDPOINT, jobId: jobId as never })?.state;

describe('a worker that asks', () => {
  test('gets what waits, with all that its agent needs to run it', async () => {
    const jobId = scene.submit({ extras: '{"a":1.0}' as RawJson, traceparent: '00-trace' });
    await scene.clock.advance(2_000);
    const told = await take(takingOf());
    expect(told.answer).toEqual({
      takeId: 'wish',
      kind: 'jobs',
      jobs: [
        {
          ...{ endpointId: ENDPOINT, jobId, attempt: 1, token: expect.any(String) },
          ...{ input: { kind: 'inline', json: '{}' }, extras: '{"a":1.0}', traceparent: '00-trace' },
          ...{ executionTimeoutMs: 600_000, expiresInMs: 3_598_000, delayTimeMs: 2_000, retries: 0 },
        },
      ],
    });
    expect(told.jobs).toEqual(jobsOf(told));
    expect([await scene.count('taken'), scene.owners.asked[0]]).toMatchObject([1, { options: { heldMs: 5_000 } }]);
  });

  test('is held until a job comes', async () => {
    const taking = takingOf();
    const taken = take(taking);
    await letRun();
    expect(taking.waiting).toBe(1);
    const jobId = scene.submit();
    expect((await taken).jobs).toMatchObject([{ jobId }]);
    expect(taking.waiting).toBe(0);
  });

  test('asks under a name and with chance of its own each time', async () => {
    const [first, second] = [scene.submit(), scene.submit()];
    const taking = takingOf();
    const tokens = [await take(taking, { ...WISH, takeId: 'one', slots: 1 }), await take(taking)].map(({ jobs }) =>
      jobs.map(({ jobId, token }) => [jobId, token.length]),
    );
    expect(tokens).toEqual([[[first, 26]], [[second, 26]]]);
  });

  test.each([
    ['that is placed nowhere', () => scene.snapshots.assignments.clear(), 'not-placed'],
    ['of an endpoint that is not known', () => scene.snapshots.endpoints.clear(), 'not-placed'],
    ['that drains', () => scene.place(ENDPOINT, { isDraining: true }), 'none'],
    ['whose host drains', () => scene.snapshots.hosts.set(HOST, { id: HOST, isDraining: true }), 'none'],
  ])('%s gets nothing, after a moment', async (_, happen, kind) => {
    happen();
    const jobId = scene.submit();
    const taken = take(takingOf());
    let isAnswered = false;
    void taken.then(() => (isAnswered = true));
    await scene.clock.advance(999);
    expect(isAnswered).toBe(false);
    await scene.clock.advance(1);
    expect(await taken).toEqual({ answer: { takeId: 'wish', kind }, jobs: [], given: [] });
    expect(stateOf(jobId)).toBe('IN_QUEUE');
  });

  test('and whose host is removed while it is held gets nothing: its job is queued again, uncharged', async () => {
    const taken = take(takingOf());
    await letRun();
    scene.snapshots.hosts.clear();
    const jobId = scene.submit();
    expect(await taken).toEqual({ answer: { takeId: 'wish', kind: 'not-placed' }, jobs: [], given: [] });
    expect(scene.job({ endpointId: ENDPOINT, jobId: jobId as never })).toMatchObject({
      ...{ state: 'IN_QUEUE', attempt: 2, charged: 0 },
      history: [{ outcome: 'lost', reason: expect.stringContaining('could not be delivered') }],
    });
    expect(await scene.count('undelivered')).toBe(1);
  });

  test('hears where no owner answers, and is given by the next one that it asks what it got all the same', async () => {
    const jobId = scene.submit();
    scene.owners.lostAnswers = 1;
    expect((await take(takingOf())).answer).toEqual({ takeId: 'wish', kind: 'unanswered' });
    await letRun();
    expect(stateOf(jobId)).toBe('IN_PROGRESS');
    expect((await take(takingOf(), { ...WISH, waitMs: 0 })).jobs).toMatchObject([{ jobId, attempt: 1 }]);
  });
});

describe('the wishes of one host', () => {
  const other = 'ep2' as EndpointId;
  const wishes = [
    { ...WISH, takeId: 'a', slots: 1 },
    { ...WISH, takeId: 'b', slots: 1 },
    { ...WISH, takeId: 'c', endpointId: other },
  ];

  test('are answered as soon as each can be, those of one turn together, and the others wait on', async () => {
    scene.place(other);
    const taking = takingOf();
    const told: (readonly string[])[] = [];
    const over = taking.take(HOST, { wishes }, ({ reply }) =>
      told.push(reply.answers.map(({ kind, takeId }) => `${takeId} ${kind}`)),
    );
    await letRun();
    scene.submit();
    scene.submit();
    await eventually(() => expect(told).toEqual([['a jobs', 'b jobs']]));
    expect(taking.waiting).toBe(1);
    scene.submit({}, other);
    await over;
    expect(told.slice(1)).toEqual([['c jobs']]);
  });

  test('that nobody answers cost the others nothing', async () => {
    scene.place(other);
    scene.submit({}, other);
    scene.owners.silent.add(ENDPOINT);
    const told: string[] = [];
    void takingOf().take(HOST, { wishes }, ({ reply }) =>
      told.push(...reply.answers.map(({ kind, takeId }) => `${takeId} ${kind}`)),
    );
    await eventually(() => expect(told).toEqual(['c jobs']));
  });

  test('bring what they brought before when they are asked again', async () => {
    const jobId = scene.submit();
    const taking = takingOf();
    const [first, again] = [await take(taking), await take(taking)];
    expect(first.jobs).toMatchObject([{ jobId, attempt: 1 }]);
    expect(again.jobs.map(({ token }) => token)).toEqual(first.jobs.map(({ token }) => token));
  });

  test('are not those of another host that names them alike', async () => {
    scene.submit();
    const [mine] = (await take(takingOf())).jobs;
    const worker = { id: WORKER, hostId: 'h2', phase: 'idle', isDraining: false } as never;
    scene.snapshots.assignments.set(ENDPOINT, { endpointId: ENDPOINT, workers: [worker] });
    scene.snapshots.hosts.set('h2', { id: 'h2' as never, isDraining: false });
    const stolen: Taken[] = [];
    await takingOf().take('h2' as never, { wishes: [{ ...WISH, waitMs: 0 }] }, (taken) => stolen.push(taken));
    expect([mine?.attempt, stolen[0]?.given]).toEqual([1, []]);
  });
});

describe('a withdrawal', () => {
  test('ends what is held for the worker, and nothing else', async () => {
    const taking = takingOf();
    const taken = take(taking);
    await letRun();
    taking.withdraw(HOST, { endpointId: ENDPOINT, workerId: 'other' as never });
    taking.withdraw('other' as never, { endpointId: ENDPOINT, workerId: WORKER });
    await letRun();
    expect(scene.owners.waiting).toBe(1);
    taking.withdraw(HOST, { endpointId: ENDPOINT, workerId: WORKER });
    expect(await taken).toEqual({ answer: { takeId: 'wish', kind: 'none' }, jobs: [], given: [] });
    expect(scene.owners.asked.map(({ verb }) => verb)).toEqual(['take', 'withdraw']);
  });

  test('that comes before the take has reached an owner keeps it from being asked', async () => {
    const taking = takingOf();
    const taken = take(taking);
    taking.withdraw(HOST, { endpointId: ENDPOINT, workerId: WORKER });
    expect(await taken).toEqual({ answer: { takeId: 'wish', kind: 'none' }, jobs: [], given: [] });
    expect(scene.owners.asked.map(({ verb }) => verb)).toEqual(['withdraw']);
  });

  test('of everybody whose line has broken keeps asking no owner that was silent: what comes waits for who can be answered', async () => {
    const taking = takingOf();
    scene.owners.silent.add(ENDPOINT);
    const taken = take(taking);
    await letRun();
    taking.withdrawAll();
    expect((await taken).answer?.kind).toBe('unanswered');
    scene.owners.silent.clear();
    const jobId = scene.submit();
    await letRun();
    expect(scene.job({ endpointId: ENDPOINT, jobId: jobId as never })).toMatchObject({ state: 'IN_QUEUE', attempt: 1 });
  });

  test('of everybody, at the end, lets nobody wait any more', async () => {
    const taking = takingOf();
    const taken = [take(taking), take(taking)];
    await letRun();
    taking.close();
    expect((await Promise.all(taken)).map(({ answer }) => answer?.kind)).toEqual(['none', 'none']);
    scene.submit();
    expect((await take(taking)).answer?.kind).toBe('none');
  });
});

describe('what a caller gave in confidence', () => {
  const s3 = '{"s3Config":{"accessSecret":"hunter2"}}' as RawJson;
  const sealedFor = (jobId: string): string =>
    sealExtras(boxOf(1), { endpointId: ENDPOINT, jobId: jobId as never }, s3);

  test('is handed out with its job', async () => {
    scene.submit({ extras: '{"a":1}' as RawJson, sealedExtras: sealedFor('j1') });
    const { answer } = await take(takingOf());
    expect(answer).toMatchObject({ jobs: [{ extras: '{"a":1,"s3Config":{"accessSecret":"hunter2"}}' }] });
  });

  test('and cannot be opened fails its job with the reason, once, and takes no other with it', async () => {
    const lost = scene.submit({ sealedExtras: sealedFor('j1'), traceparent: TRACEPARENT });
    const fine = scene.submit();
    const { jobs } = await take(takingOf(2));
    expect(jobs.map(({ jobId }) => jobId)).toEqual([fine]);
    expect(unopened).toBe(1);
    expect(scene.logged).toMatchObject([{ jobId: lost, traceId: TRACEPARENT.slice(3, 35) }]);
    const job = scene.job({ endpointId: ENDPOINT, jobId: lost as never });
    expect(job).toMatchObject({ state: 'FAILED', error: expect.stringMatching(/^s3Config cannot be opened/) });
    expect(job?.error).not.toContain('hunter2');
  });

  test('and cannot be opened leaves its job to the end of its lease where no owner answers either', async () => {
    const owners = { tell: () => Promise.reject(new PlatformError('service-unavailable', 'away')) };
    const opener = new JobUnsealer({ ...scene, owners, secrets: boxOf(2), onUnopened: () => undefined });
    const assigned = { jobId: 'j1', attempt: 1, token: 't', body: { extras: '{}', sealedExtras: 'x' } } as never;
    expect(await opener.open({ endpointId: ENDPOINT, hostId: HOST }, [assigned])).toEqual([]);
  });
});

describe('a job that is given back', () => {
  test('is queued again, uncharged', async () => {
    const jobId = scene.submit({ traceparent: TRACEPARENT });
    const { given } = await take(takingOf());
    await giveBack.all(HOST, given);
    expect(scene.job({ endpointId: ENDPOINT, jobId: jobId as never })).toMatchObject({ attempt: 2, charged: 0 });
    expect(scene.logged).toMatchObject([{ jobId, attempt: 1, traceId: TRACEPARENT.slice(3, 35) }]);
    expect(await scene.count('undelivered')).toBe(1);
  });

  test('and is over already is left as it is', async () => {
    const jobId = scene.submit();
    const { given } = await take(takingOf());
    scene.owners.perform(ENDPOINT, { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId: jobId as never });
    await giveBack.all(HOST, given);
    expect(stateOf(jobId)).toBe('CANCELLED');
    expect(await scene.count('undelivered')).toBe(0);
  });

  test('and was brought to its host by another router is left to the host', async () => {
    const jobId = scene.submit();
    const { given } = await take(takingOf());
    expect((await take(takingOf())).jobs).toMatchObject([{ jobId, attempt: 1 }]);
    await giveBack.all(HOST, given);
    expect(scene.job({ endpointId: ENDPOINT, jobId: jobId as never })).toMatchObject({
      state: 'IN_PROGRESS',
      attempt: 1,
    });
    expect(await scene.count('undelivered')).toBe(0);
  });
});
