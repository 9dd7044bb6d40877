import type { AttemptGiven, JobId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ENDPOINT, HeldTakesScene, idsOf } from '../../../test/model/held-takes-scene.js';
import { WISHES_MAX } from './endpoint-takes.js';
import type { JobGiving } from './waiting-takes.port.js';
import { HeldTakes } from './held-takes.js';

let scene: HeldTakesScene;

beforeEach(async () => {
  scene = await new HeldTakesScene().start();
});

afterEach(() => {
  scene.stop();
});

const WORKER = { hostId: 'h', workerId: 'w' } as never;

describe('a take', () => {
  test('brings what waits, once that is committed', async () => {
    const job = scene.job();
    void scene.submit(job);
    await scene.commit();
    const asked = scene.ask();
    await scene.settle();
    expect(asked.answer).toBeNull();
    await scene.commit();
    expect(asked.answer).toMatchObject([{ jobId: job.jobId, attempt: 1, body: job.body, retries: 0 }]);
  });

  test('that waits hears of a job with the very batch by which the job is accepted', async () => {
    const asked = scene.ask();
    await scene.settle();
    scene.broker.sent.length = 0;
    const job = scene.job();
    void scene.submit(job);
    await scene.settle();
    // Another batch fills up behind the first.
    void scene.submit(scene.job());
    await scene.settle();
    expect(scene.broker.sent).toHaveLength(1);
    await scene.broker.release();
    await scene.settle();
    expect(scene.given).toEqual([[asked.takeId]]);
    expect(scene.facts().map(({ kind }) => kind)).toEqual(['opened', 'born-taken']);
    await scene.commit();
    expect(idsOf(asked)).toEqual([job.jobId]);
  });

  test('that comes with others in one turn shares what there is with them, one job for each in turn', async () => {
    void scene.submit(...Array.from({ length: 5 }, () => scene.job()));
    await scene.commit();
    const asked = [scene.ask(scene.wish({ slots: 3 })), scene.ask(scene.wish({ slots: 1 })), scene.ask()];
    await scene.commit();
    expect(asked.map(idsOf)).toEqual([['j1', 'j4', 'j5'], ['j2'], ['j3']]);
    expect(scene.given).toEqual([asked.map(({ takeId }) => takeId)]);
  });

  test('of which the time is over brings none, and takes nothing afterwards', async () => {
    const asked = scene.ask(scene.wish(), 5_000);
    await scene.settle();
    await scene.clock.advance(4_999);
    expect(asked.answer).toBeNull();
    await scene.clock.advance(1);
    await scene.settle();
    expect(asked.answer).toEqual([]);
    void scene.submit(scene.job());
    await scene.commit();
    expect(await scene.read(({ normal }) => normal.ready.size)).toBe(1);
    expect(scene.held.active).toBe(0);
  });

  test('of which the time is over while its job is being committed brings the job', async () => {
    const asked = scene.ask(scene.wish(), 1_000);
    await scene.settle();
    void scene.submit(scene.job());
    await scene.settle();
    await scene.clock.advance(1_000);
    await scene.settle();
    expect(asked.answer).toBeNull();
    await scene.commit();
    expect(idsOf(asked)).toEqual(['j1']);
  });

  test('that another router asks for, too, is of whoever was answered last, and of nobody before that', async () => {
    const wish = scene.wish();
    const [mine, other] = [wish, { ...wish, secret: 'another' }];
    void scene.submit(scene.job());
    scene.ask(mine);
    await scene.commit();
    expect([mine, other].map((asker) => scene.held.isLastAsker(asker))).toEqual([true, false]);
    const again = scene.ask(other);
    expect([mine, other].map((asker) => scene.held.isLastAsker(asker))).toEqual([false, false]);
    await scene.commit();
    expect(idsOf(again)).toEqual(['j1']);
    expect([mine, other].map((asker) => scene.held.isLastAsker(asker))).toEqual([false, true]);
  });

  test('that does not want to wait is answered at once', async () => {
    const asked = scene.ask(scene.wish(), 0);
    await scene.clock.advance(0);
    await scene.settle();
    expect(asked.answer).toEqual([]);
  });

  test('gets what is queued again, by a host at once and by a fault when its delay is over, though nobody looks', async () => {
    void scene.submit(scene.job());
    const first = scene.ask();
    await scene.commit();
    const given = first.answer?.[0] as never;
    const second = scene.ask();
    await scene.commit();
    void scene.giveBack(given, { isCharged: false });
    await scene.commit();
    expect(second.answer).toMatchObject([{ jobId: 'j1', attempt: 2 }]);

    const third = scene.ask(scene.wish(), 20_000);
    void scene.giveBack(second.answer?.[0] as never, { isCharged: true });
    await scene.commit();
    const [dueAtMs = 0] = await scene.read(({ delays }) => [delays.nextAtMs]);
    const delayMs = dueAtMs - scene.clock.nowMs();
    expect(delayMs).toBeGreaterThan(500);
    await scene.clock.advance(delayMs - 1);
    await scene.commit();
    expect(third.answer).toBeNull();
    // As soon as the owner looks at what is due.
    await scene.clock.advance(51);
    await scene.commit();
    expect(third.answer).toMatchObject([{ jobId: 'j1', attempt: 3, retries: 1 }]);
  });

  test('brings no more jobs than an answer has room for', async () => {
    scene.stop();
    scene = await new HeldTakesScene({ jobsPerAnswer: 2 }).start();
    const asked = scene.ask(scene.wish({ slots: 50 }));
    await scene.settle();
    void scene.submit(...Array.from({ length: 5 }, () => scene.job()));
    await scene.commit();
    expect(idsOf(asked)).toEqual(['j1', 'j2']);
    const next = scene.ask(scene.wish({ slots: 48 }));
    await scene.commit();
    expect(idsOf(next)).toEqual(['j3', 'j4']);
  });

  test('is heard though the owner was not told that anything happened, at the next slow look', async () => {
    scene.held.start();
    const asked = scene.ask();
    await scene.settle();
    scene.deaf = true;
    void scene.submit(scene.job());
    await scene.commit();
    expect(asked.answer).toBeNull();
    await scene.clock.advance(2_000);
    await scene.commit();
    expect(idsOf(asked)).toEqual(['j1']);
  });
});

describe('a take that is asked once more', () => {
  test('while it is held is answered there and not where it was asked first', async () => {
    const wish = scene.wish();
    const first = scene.ask(wish);
    await scene.settle();
    const second = scene.ask(wish);
    await scene.settle();
    expect([first.answer, second.answer]).toEqual([[], null]);
    void scene.submit(scene.job());
    await scene.commit();
    expect(idsOf(second)).toEqual(['j1']);
    expect(scene.held.active).toBe(0);
  });

  test('while its job is being committed, or read, is answered once', async () => {
    void scene.submit(scene.job());
    await scene.commit();
    const wish = scene.wish();
    const first = scene.ask(wish);
    await scene.settle();
    const second = scene.ask(wish);
    await scene.commit();
    expect([first.answer, idsOf(second)]).toEqual([[], ['j1']]);
  });

  test('when it was answered gets the same again, and nothing more', async () => {
    void scene.submit(scene.job());
    const wish = scene.wish();
    const first = scene.ask(wish);
    await scene.commit();
    void scene.submit(scene.job());
    await scene.commit();
    const again = scene.ask(wish);
    await scene.commit();
    expect(again.answer).toEqual(first.answer);
    expect(idsOf(again)).toEqual(['j1']);
  });

  test('just as its time is over waits anew', async () => {
    const wish = scene.wish();
    scene.ask(wish, 1_000);
    void scene.submit(scene.job());
    await scene.settle();
    await scene.clock.advance(1_000);
    const again = scene.ask(wish, 5_000);
    await scene.commit();
    expect(idsOf(again)).toEqual(['j1']);
  });
});

describe('a withdrawal', () => {
  test('ends what is held for that worker, and its jobs go to the next who waits', async () => {
    const asked = [scene.ask(), scene.ask(scene.wish({ slots: 4 }))];
    const other = scene.ask(scene.wish({ workerId: 'other' }));
    await scene.settle();
    scene.held.withdraw(ENDPOINT, WORKER);
    void scene.submit(scene.job());
    await scene.commit();
    expect(asked.map(({ answer }) => answer)).toEqual([[], []]);
    expect(idsOf(other)).toEqual(['j1']);
  });

  test('while a job is being taken lets the job be answered: its host gives it back', async () => {
    const asked = scene.ask();
    await scene.settle();
    void scene.submit(scene.job());
    scene.held.withdraw(ENDPOINT, WORKER);
    await scene.commit();
    expect(idsOf(asked)).toEqual(['j1']);
  });

  test('takes nothing that waits', async () => {
    void scene.submit(scene.job());
    await scene.commit();
    const asked = scene.ask();
    scene.held.withdraw(ENDPOINT, WORKER);
    await scene.commit();
    expect(asked.answer).toEqual([]);
    expect(await scene.read(({ normal }) => normal.ready.size)).toBe(1);
  });

  test('keeps a job from it that was about to be offered when it came', async () => {
    void scene.submit(scene.job({ ttlMs: 1_000 }));
    await scene.commit();
    const busy = scene.ask();
    await scene.commit();
    expect(idsOf(busy)).toEqual(['j1']);
    const asked = scene.ask();
    await scene.settle();
    // A job whose life is over goes first, so the submission is decided one turn later.
    scene.clock.jump(2_000);
    void scene.submit(scene.job());
    scene.held.withdraw(ENDPOINT, WORKER);
    await scene.commit();
    expect(asked.answer).toEqual([]);
    expect(await scene.read(({ normal }) => normal.ready.size)).toBe(1);
  });

  test('of somebody who is not held costs nothing', () => {
    scene.held.withdraw(ENDPOINT, WORKER);
    scene.held.wake(ENDPOINT);
    expect(scene.held.waitingWishes(ENDPOINT)).toEqual([]);
    expect(scene.held.active).toBe(0);
  });
});

describe('nothing is said', () => {
  test('where it is not certain who owns the endpoint', async () => {
    scene.isTrusted = false;
    const asked = scene.ask();
    await scene.settle();
    expect(asked.answer).toBe('silent');
    expect(scene.held.active).toBe(0);
  });

  test('of a job whose batch was not committed: whoever asks again gets it from the next owner', async () => {
    const asked = scene.ask();
    await scene.settle();
    void scene.submit(scene.job());
    await scene.settle();
    scene.loseShard();
    await scene.settle();
    expect(asked.answer).toBe('silent');
  });

  test('where another router owns the endpoint, or this one stops', async () => {
    const asked = scene.ask();
    await scene.settle();
    scene.held.silence((endpointId) => endpointId !== ENDPOINT);
    expect(scene.held.waiting).toBe(1);
    scene.held.silence((endpointId) => endpointId === ENDPOINT);
    await scene.settle();
    expect(asked.answer).toBe('silent');
    scene.held.stop();
    const late = scene.ask();
    await scene.settle();
    expect(late.answer).toBe('silent');
    expect(scene.held.active).toBe(0);
  });

  test('where what was taken cannot be read: the same take gets it when it can', async () => {
    scene.isReadable = false;
    void scene.submit(scene.job());
    const wish = scene.wish();
    const asked = scene.ask(wish);
    await scene.commit();
    expect(asked.answer).toBe('silent');
    scene.isReadable = true;
    const again = scene.ask(wish);
    await scene.commit();
    expect(idsOf(again)).toEqual(['j1']);
  });

  test('to more than may wait at one endpoint', async () => {
    const asked = Array.from({ length: WISHES_MAX + 1 }, () => scene.ask());
    await scene.settle();
    expect(asked.filter(({ answer }) => answer === 'silent')).toHaveLength(1);
    expect(scene.held.waiting).toBe(WISHES_MAX);
  });
});

describe('of thousands who wait', () => {
  const many = 600;

  test('as many as there are jobs for get one, in the order in which they came', async () => {
    const asked = Array.from({ length: many }, () => scene.ask());
    await scene.settle();
    const jobs = Array.from({ length: many - 50 }, () => scene.job());
    void scene.submit(...jobs);
    await scene.commit();
    expect(asked.slice(0, jobs.length).map(idsOf)).toEqual(jobs.map(({ jobId }) => [jobId]));
    expect(asked.slice(jobs.length).every(({ answer }) => answer === null)).toBe(true);
  });

  test('few are asked about when something happens that concerns none of them', async () => {
    for (let count = 0; count < many; count += 1) scene.ask();
    await scene.settle();
    scene.wishesGiven = 0;
    scene.held.wake(ENDPOINT);
    await scene.settle();
    expect(scene.wishesGiven).toBeLessThan(20);
  });
});

describe('while the owner has not answered yet', () => {
  const give = jest.fn<JobGiving['give']>();
  const clock = new ManualClock();
  let answers: ((jobs: readonly AttemptGiven[]) => void)[];
  let held: HeldTakes;

  beforeEach(() => {
    answers = [];
    give.mockReset();
    give.mockImplementation(
      (_, wishes) =>
        new Promise((resolve) => {
          answers.push((jobs) => resolve(wishes.map(({ takeId }) => ({ takeId, jobs }))));
        }),
    );
    const giving: JobGiving = { give, assign: async (_, { jobs }) => jobs as never };
    const atEndOfTurn = (run: () => void): void => process.nextTick(run);
    held = new HeldTakes({ giving, clock, logger: silentLogger, atEndOfTurn, jobsPerAnswer: 9 });
  });

  const GIVEN: AttemptGiven = { jobId: 'j' as JobId, attempt: 1, token: 't' };
  const WISH = { takeId: 't', hostId: 'h', workerId: 'w', slots: 1, secret: 's' } as never;

  const answer = async (jobs: readonly AttemptGiven[]): Promise<void> => {
    answers.shift()?.(jobs);
    await letRun();
  };

  test('what happens meanwhile is asked about when it has', async () => {
    const taken = held.take(ENDPOINT, { wish: WISH, waitMs: 5_000 });
    await letRun();
    held.wake(ENDPOINT);
    await letRun();
    expect(give).toHaveBeenCalledTimes(1);
    await answer([]);
    await answer([GIVEN]);
    expect(await taken).toEqual([GIVEN]);
  });

  test('a take that ended, was asked again and ended again is not answered with what was said of it before', async () => {
    const first = held.take(ENDPOINT, { wish: WISH, waitMs: 1_000 });
    await letRun();
    await answer([]);
    await clock.advance(1_000);
    expect(give).toHaveBeenCalledTimes(2);
    const second = held.take(ENDPOINT, { wish: WISH, waitMs: 1_000 });
    held.withdraw(ENDPOINT, WORKER);
    await answer([]);
    expect(give.mock.lastCall?.[1]).toMatchObject([{ takeId: 't', slots: 0 }]);
    await answer([GIVEN]);
    expect([await first, await second]).toEqual([[], [GIVEN]]);
  });

  test('one that was let go and asked again is answered once more', async () => {
    const first = held.take(ENDPOINT, { wish: WISH, waitMs: 1_000 });
    await letRun();
    held.silence(() => true);
    const second = held.take(ENDPOINT, { wish: WISH, waitMs: 1_000 });
    await answer([]);
    await answer([GIVEN]);
    expect([await first, await second]).toEqual(['silent', [GIVEN]]);
    expect(held.active).toBe(0);
  });

  test('a fault of the owner is no answer', async () => {
    give.mockRejectedValueOnce(new Error('the owner failed'));
    expect(await held.take(ENDPOINT, { wish: WISH, waitMs: 1_000 })).toBe('silent');
  });
});
