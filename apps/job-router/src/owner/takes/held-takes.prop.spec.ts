import { type JobId, type LogFact } from '@berth/domain';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ENDPOINT, HeldTakesScene, type Asked } from '../../../test/model/held-takes-scene.js';

/** One thing that happens to an endpoint for which workers wait. */
type Step =
  | { readonly kind: 'submit'; readonly priorities: readonly boolean[]; readonly ttlMs: number }
  | { readonly kind: 'ask'; readonly slots: number; readonly worker: number; readonly waitMs: number }
  | { readonly kind: 'ask-again'; readonly which: number }
  | { readonly kind: 'withdraw'; readonly worker: number }
  | { readonly kind: 'give-back'; readonly which: number; readonly isCharged: boolean }
  | { readonly kind: 'cancel'; readonly which: number }
  | { readonly kind: 'wake' }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'turn' }
  /** The oldest append arrives. */
  | { readonly kind: 'commit' };

const index = fc.nat({ max: 1_000 });
const worker = fc.nat({ max: 2 });

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('submit'),
        priorities: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
        ttlMs: fc.constantFrom(1, 60, 3_600_000, 3_600_000),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('ask'),
        slots: fc.integer({ min: 1, max: 3 }),
        worker,
        waitMs: fc.constantFrom(0, 700, 5_000),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('ask-again'), which: index }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw'), worker }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('give-back'), which: index, isCharged: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel'), which: index }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'wake' } as const) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1, 60, 800) }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'turn' } as const) },
    { weight: 5, arbitrary: fc.constant({ kind: 'commit' } as const) },
  ),
  { minLength: 5, maxLength: 60 },
);

const pick = <T>(items: readonly T[], which: number): T | undefined => items[which % Math.max(1, items.length)];

async function play(scene: HeldTakesScene, step: Step): Promise<void> {
  const answered = scene.asked.flatMap(({ answer }) => (answer === null || answer === 'silent' ? [] : answer));
  switch (step.kind) {
    case 'submit':
      void scene.submit(...step.priorities.map((isLowPriority) => scene.job({ isLowPriority, ttlMs: step.ttlMs })));
      break;
    case 'ask':
      scene.ask(scene.wish({ slots: step.slots, workerId: `w${step.worker}` }), step.waitMs);
      break;
    case 'ask-again': {
      const known = pick(scene.asked, step.which);
      if (known !== undefined) scene.ask(scene.wish(known), 5_000);
      break;
    }
    case 'withdraw':
      scene.held.withdraw(ENDPOINT, { hostId: 'h', workerId: `w${step.worker}` } as never);
      break;
    case 'give-back': {
      const job = pick(answered, step.which);
      if (job !== undefined) void scene.giveBack(job, step);
      break;
    }
    case 'cancel':
      void scene.perform(() => {
        const jobId = `j${1 + (step.which % 20)}` as JobId;
        return { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId };
      });
      break;
    case 'wake':
      scene.held.wake(ENDPOINT);
      break;
    case 'pass':
      await scene.clock.advance(step.ms);
      break;
    case 'turn':
      await scene.settle();
      break;
    case 'commit':
      await scene.broker.release();
      break;
    default:
      step satisfies never;
  }
}

const attemptsOf = ({ answer }: Asked): readonly string[] =>
  answer === null || answer === 'silent' ? [] : answer.map(({ attempt, jobId }) => `${jobId}/${attempt}`);

/** One attempt has one take, and one take one set of jobs, however often and whenever it was asked. */
function checkAnswers(asked: readonly Asked[]): void {
  const takeOf = new Map<string, string>();
  for (const each of asked) {
    const attempts = attemptsOf(each);
    expect(attempts.length).toBeLessThanOrEqual(each.slots);
    for (const attempt of attempts) {
      expect([attempt, takeOf.get(attempt) ?? each.takeId]).toEqual([attempt, each.takeId]);
      takeOf.set(attempt, each.takeId);
    }
  }
}

/** Whoever was given a job has been told of it, or is asking again: nobody was told "none" instead. */
async function checkNothingLost(scene: HeldTakesScene): Promise<void> {
  const running = await scene.read((state) => [...state.running.values()].map(({ data }) => data));
  for (const { attempt, current, jobId } of running) {
    const waits = scene.asked.filter(({ takeId }) => takeId === current?.takeId);
    const isTold = waits.some((wait) => attemptsOf(wait).includes(`${jobId}/${attempt}`));
    const last = waits.at(-1)?.answer;
    expect([jobId, attempt, isTold || last === 'silent']).toEqual([jobId, attempt, true]);
  }
}

/** No job is ready while a wish waits that was never given any: one that was gets nothing more. */
async function checkNoneWaitsForNothing(scene: HeldTakesScene): Promise<void> {
  const takings = scene.facts().flatMap((fact) => ('taking' in fact ? [fact.taking.takeId] : []));
  const fitting = scene.held.waitingWishes(ENDPOINT).filter(({ takeId }) => !takings.includes(takeId));
  const ready = await scene.read(({ low, normal }) => low.ready.size + normal.ready.size);
  if (fitting.length > 0) expect(ready).toBe(0);
}

interface Waiting {
  readonly jobId: string;
  readonly isLow: boolean;
  readonly expiresAtMs: number;
  readonly place: number;
  readonly notBeforeMs: number;
}

/** Nobody starts before a job of its priority that was queued earlier and may start, nor while a normal job may. */
function checkOrder(facts: readonly LogFact[]): void {
  const known = new Map<string, Waiting>();
  const waiting = new Map<string, Waiting>();
  const queue = (job: Waiting): void => {
    known.set(job.jobId, job);
    waiting.set(job.jobId, job);
  };
  const start = (jobId: string, atMs: number): void => {
    const job = waiting.get(jobId);
    waiting.delete(jobId);
    if (job === undefined) throw new Error(`${jobId} did not wait`);
    const mayStart = ({ expiresAtMs, notBeforeMs }: Waiting): boolean => notBeforeMs <= atMs && expiresAtMs > atMs;
    const isBefore = ({ isLow, place }: Waiting): boolean => (isLow === job.isLow ? place < job.place : job.isLow);
    const passedOver = [...waiting.values()].filter((other) => mayStart(other) && isBefore(other));
    expect([jobId, passedOver]).toEqual([jobId, []]);
  };
  for (const fact of facts) {
    if (fact.kind === 'submitted' || fact.kind === 'born-taken') {
      const { expiresAtMs, isLowPriority: isLow, jobId, ordinal: place } = fact.job;
      queue({ jobId, isLow, expiresAtMs, place, notBeforeMs: fact.atMs });
    }
    if (fact.kind === 'born-taken') start(fact.job.jobId, fact.atMs);
    if (fact.kind === 'taken') start(fact.jobId, fact.atMs);
    if (fact.kind === 'cancelled') waiting.delete(fact.jobId);
    const before = fact.kind === 'lost' ? known.get(fact.jobId) : undefined;
    if (fact.kind !== 'lost' || fact.next === null || before === undefined) continue;
    queue({ ...before, place: fact.next.queuePlace, notBeforeMs: fact.next.notBeforeMs });
  }
}

test('whatever happens in whatever order, no job is given twice, none is lost, and none waits for nothing', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      const scene = await new HeldTakesScene().start();
      for (const step of story) await play(scene, step);
      await scene.commit();
      checkAnswers(scene.asked);
      await checkNothingLost(scene);
      checkOrder(scene.facts());
      await checkNoneWaitsForNothing(scene);
      scene.stop();
      await scene.settle();
      expect(scene.asked.every(({ answer }) => answer !== null)).toBe(true);
      expect([scene.held.active, scene.held.waiting]).toEqual([0, 0]);
    }),
    { numRuns: 300 },
  );
});
