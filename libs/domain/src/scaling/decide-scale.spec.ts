import { describe, expect, test } from '@jest/globals';
import type { Scaling, WorkerRange } from '../endpoint/index.js';
import type { WorkerId } from '../ids.js';
import type { WorkerCounts } from './count-workers.js';
import { decideScale, type ScaleDecision, type ScaleMemory, type ScaleView } from './decide-scale.js';
import type { Demand, StrictDemand } from './demand.js';

const T0 = 1_000_000;
const REQUEST_COUNT: Scaling = { type: 'REQUEST_COUNT', requestCount: 4 };
const QUEUE_DELAY: Scaling = { type: 'QUEUE_DELAY', queueDelaySeconds: 4 };

const demandOf = (fields: Partial<Demand> = {}): Demand => ({
  queuedNormal: 0,
  queuedLow: 0,
  running: 0,
  runningLow: 0,
  oldestQueuedAtMs: null,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
  ...fields,
});

const strictly = (...queued: number[]): readonly StrictDemand[] =>
  queued.map((each, index) => ({ workerId: `w${index}` as WorkerId, queued: each }));

const countsOf = (fields: Partial<WorkerCounts> = {}): WorkerCounts => ({
  starting: 0,
  idle: 0,
  busy: 0,
  unhealthy: 0,
  ...fields,
});

const rangeOf = (fields: Partial<WorkerRange> = {}): WorkerRange => ({
  min: 0,
  max: 10,
  idleTimeoutSeconds: 10,
  ...fields,
});

/** A loop that was told long ago that nothing is wanted, so nothing but the demand decides. */
const QUIET: ScaleMemory = { levels: [{ workers: 0, untilMs: 0 }], addedForDelay: null };

const viewOf = (fields: Partial<ScaleView> = {}): ScaleView => ({
  scaling: REQUEST_COUNT,
  range: rangeOf(),
  demand: demandOf(),
  workers: countsOf(),
  memory: QUIET,
  ...fields,
});

const answer = ({ desiredWorkers, reason }: ScaleDecision): [number, string] => [desiredWorkers, reason];

describe('REQUEST_COUNT wants ceil((queued + running) / requestCount)', () => {
  test.each<[string, Partial<Demand>, Partial<WorkerCounts>, [number, string]]>([
    ['nothing to do', {}, {}, [0, 'no-demand']],
    ['one job', { queuedNormal: 1 }, {}, [1, 'from-zero']],
    ['from zero in one step', { queuedNormal: 9 }, {}, [3, 'from-zero']],
    ['waiting and running together', { queuedNormal: 3, running: 2 }, { busy: 1 }, [2, 'demand']],
    ['exactly full', { queuedNormal: 4, running: 4 }, { busy: 1, starting: 1 }, [2, 'demand']],
    ['running alone can want more', { running: 9 }, { busy: 1 }, [3, 'demand']],
    ['more than allowed', { queuedNormal: 99 }, {}, [10, 'at-max']],
    ['low priority waits for nobody', { queuedLow: 99 }, {}, [0, 'no-demand']],
    ['running low priority keeps its worker', { running: 2, runningLow: 2 }, { busy: 1 }, [1, 'demand']],
    ['and brings no other', { running: 9, runningLow: 9 }, { busy: 1 }, [1, 'demand']],
    [
      'a normal job behind low priority needs its own worker',
      { queuedNormal: 1, running: 4, runningLow: 4 },
      { busy: 1 },
      [2, 'demand'],
    ],
    ['unless there is room beside them', { running: 4, runningLow: 2 }, { busy: 1 }, [1, 'demand']],
  ])('%s', (...[, demand, workers, expected]) => {
    const decision = decideScale(viewOf({ demand: demandOf(demand), workers: countsOf(workers) }), T0);
    expect(answer(decision)).toEqual(expected);
  });

  test.each<[string, Partial<Demand>, number, [number, string]]>([
    ['bring no other', { queuedNormal: 9, running: 4, strict: strictly(9) }, 1, [1, 'demand']],
    ['stand beside others', { queuedNormal: 9, running: 4, strict: strictly(4) }, 1, [3, 'demand']],
    ['keep each its own', { queuedNormal: 9, running: 4, strict: strictly(8, 1) }, 2, [2, 'demand']],
    ['bring nobody where theirs is gone', { queuedNormal: 9, strict: strictly(9) }, 0, [0, 'no-demand']],
    ['are no less than none', { queuedNormal: 1, strict: strictly(9) }, 0, [0, 'no-demand']],
  ])('requests for one worker alone %s', (...[, demand, strictWorkers, expected]) => {
    const view = viewOf({ demand: demandOf(demand), workers: countsOf({ busy: 1 }), strictWorkers });
    expect(answer(decideScale(view, T0))).toEqual(expected);
  });
});

describe('the range holds always', () => {
  test.each<[string, Partial<ScaleView>, [number, string]]>([
    ['minimum without demand', { range: rangeOf({ min: 2 }) }, [2, 'at-min']],
    ['minimum with unknown demand', { range: rangeOf({ min: 2 }), demand: null }, [2, 'demand-unknown']],
    [
      'maximum below the present number',
      { range: rangeOf({ max: 1 }), workers: countsOf({ idle: 3 }) },
      [0, 'no-demand'],
    ],
    ['maximum of zero', { range: rangeOf({ max: 0 }), demand: demandOf({ queuedNormal: 5 }) }, [0, 'at-max']],
  ])('%s', (...[, fields, expected]) => {
    expect(answer(decideScale(viewOf(fields), T0))).toEqual(expected);
  });

  test('a maximum that was lowered and raised again brings nobody back by itself', () => {
    const high = decideScale(viewOf({ demand: demandOf({ queuedNormal: 20 }) }), T0);
    const lowered = viewOf({ memory: high.memory, range: rangeOf({ max: 2 }), workers: countsOf({ idle: 2 }) });
    const low = decideScale(lowered, T0 + 100);
    expect(answer(low)).toEqual([2, 'idle-grace']);
    const raised = viewOf({ memory: low.memory, workers: countsOf({ idle: 2 }) });
    expect(decideScale(raised, T0 + 200).desiredWorkers).toBe(2);
    expect(decideScale({ ...raised, demand: null }, T0 + 200).desiredWorkers).toBe(2);
  });
});

describe('QUEUE_DELAY', () => {
  const pace = (executionMs: number): Partial<Demand> => ({
    endedLastMinute: 10,
    executionMsLastMinute: executionMs * 10,
  });
  const waiting = (queuedNormal: number, waitedMs: number): Partial<Demand> => ({
    queuedNormal,
    oldestQueuedAtMs: T0 - waitedMs,
  });

  test.each<[string, Partial<Demand>, Partial<WorkerCounts>, [number, string]]>([
    ['nothing to do', {}, {}, [0, 'no-demand']],
    ['from zero, pace unknown: one at once', waiting(9, 0), {}, [1, 'from-zero']],
    ['from zero, long jobs: one each', { ...waiting(9, 0), ...pace(60_000) }, {}, [9, 'from-zero']],
    ['from zero, short jobs: enough by pace', { ...waiting(9, 0), ...pace(1_000) }, {}, [2, 'from-zero']],
    ['from zero, very short jobs: one', { ...waiting(9, 0), ...pace(1) }, {}, [1, 'from-zero']],
    ['nobody waits', { running: 2 }, { busy: 2 }, [2, 'demand']],
    ['not long enough yet', { running: 1, ...waiting(1, 4_000) }, { busy: 1 }, [1, 'demand']],
    ['too long', { running: 1, ...waiting(1, 4_001) }, { busy: 1 }, [2, 'queue-delay']],
    ['too long, but one is on its way', { running: 1, ...waiting(1, 9_000) }, { busy: 1, starting: 1 }, [2, 'demand']],
    [
      'too long, more wait than are on their way',
      { running: 1, ...waiting(5, 9_000) },
      { busy: 1, starting: 1 },
      [3, 'queue-delay'],
    ],
    ['by pace it would wait too long', { running: 1, ...waiting(1, 0), ...pace(60_000) }, { busy: 1 }, [2, 'pace']],
    ['by pace it will not', { running: 1, ...waiting(4, 0), ...pace(1_000) }, { busy: 1 }, [1, 'demand']],
    ['idle workers are enough by pace', { ...waiting(4, 0), ...pace(1_000) }, { idle: 1 }, [1, 'demand']],
    [
      'overdue though the pace says it cannot be',
      { ...waiting(4, 5_000), ...pace(1_000) },
      { idle: 1 },
      [2, 'queue-delay'],
    ],
    ['at most the maximum', { ...waiting(50, 0), ...pace(60_000) }, {}, [10, 'at-max']],
    ['low priority alone', { queuedLow: 50 }, {}, [0, 'no-demand']],
    ['low priority never adds', { queuedLow: 50, running: 1, runningLow: 1 }, { busy: 1 }, [1, 'demand']],
  ])('%s', (...[, demand, workers, expected]) => {
    const view = viewOf({ scaling: QUEUE_DELAY, demand: demandOf(demand), workers: countsOf(workers) });
    expect(answer(decideScale(view, T0))).toEqual(expected);
  });

  test('adds one worker per delay while the oldest job keeps waiting', () => {
    const walk = [
      { atMs: 0, starting: 0, desired: 1, reason: 'from-zero' },
      { atMs: 1_000, starting: 1, desired: 1, reason: 'demand' },
      { atMs: 4_000, starting: 1, desired: 1, reason: 'demand' },
      { atMs: 4_001, starting: 1, desired: 2, reason: 'queue-delay' },
      { atMs: 5_000, starting: 2, desired: 2, reason: 'demand' },
      { atMs: 8_000, starting: 2, desired: 2, reason: 'demand' },
      { atMs: 8_001, starting: 2, desired: 3, reason: 'queue-delay' },
      { atMs: 12_001, starting: 3, desired: 3, reason: 'at-max' },
    ];
    let memory: ScaleMemory | null = QUIET;
    for (const { atMs, starting, desired, reason } of walk) {
      const decision: ScaleDecision = decideScale(
        viewOf({
          scaling: QUEUE_DELAY,
          range: rangeOf({ max: 3 }),
          demand: demandOf({ queuedNormal: 10, oldestQueuedAtMs: T0 }),
          workers: countsOf({ starting }),
          memory,
        }),
        T0 + atMs,
      );
      expect([atMs, ...answer(decision)]).toEqual([atMs, desired, reason]);
      memory = decision.memory;
    }
  });

  test('says when time alone will change the answer', () => {
    const view = viewOf({
      scaling: QUEUE_DELAY,
      demand: demandOf({ queuedNormal: 1, running: 1, oldestQueuedAtMs: T0 - 1_500 }),
      workers: countsOf({ busy: 1 }),
    });
    expect(decideScale(view, T0).recheckAtMs).toBe(T0 + 2_501);
  });
});

describe('scale-down', () => {
  /** One step of the loop: the demand it sees, the workers there are, and what it says. */
  const walk = (
    steps: readonly { atMs: number; jobs: number | null; workers: number; expected: [number, string] }[],
    range = rangeOf(),
    start: ScaleMemory | null = QUIET,
  ): void => {
    let memory = start;
    for (const { atMs, jobs, workers, expected } of steps) {
      const demand = jobs === null ? null : demandOf({ running: jobs * 4 });
      const decision = decideScale(viewOf({ range, demand, workers: countsOf({ idle: workers }), memory }), T0 + atMs);
      expect([atMs, ...answer(decision)]).toEqual([atMs, ...expected]);
      memory = decision.memory;
    }
  };

  test('waits until nothing more was wanted for the whole idle time', () => {
    walk([
      { atMs: 0, jobs: 3, workers: 0, expected: [3, 'from-zero'] },
      { atMs: 1_000, jobs: 0, workers: 3, expected: [3, 'idle-grace'] },
      { atMs: 10_999, jobs: 0, workers: 3, expected: [3, 'idle-grace'] },
      { atMs: 11_000, jobs: 0, workers: 3, expected: [0, 'no-demand'] },
    ]);
  });

  test('a job within the window starts it anew', () => {
    walk([
      { atMs: 0, jobs: 1, workers: 1, expected: [1, 'demand'] },
      { atMs: 9_000, jobs: 0, workers: 1, expected: [1, 'idle-grace'] },
      { atMs: 18_000, jobs: 1, workers: 1, expected: [1, 'demand'] },
      { atMs: 18_500, jobs: 0, workers: 1, expected: [1, 'idle-grace'] },
      { atMs: 28_000, jobs: 0, workers: 1, expected: [1, 'idle-grace'] },
      { atMs: 28_500, jobs: 0, workers: 1, expected: [0, 'no-demand'] },
    ]);
  });

  test('goes down in steps, each after its own window', () => {
    walk([
      { atMs: 0, jobs: 3, workers: 3, expected: [3, 'demand'] },
      { atMs: 1_000, jobs: 2, workers: 3, expected: [3, 'idle-grace'] },
      { atMs: 5_000, jobs: 0, workers: 3, expected: [3, 'idle-grace'] },
      { atMs: 11_000, jobs: 0, workers: 3, expected: [2, 'idle-grace'] },
      { atMs: 14_999, jobs: 0, workers: 2, expected: [2, 'idle-grace'] },
      { atMs: 15_000, jobs: 0, workers: 2, expected: [0, 'no-demand'] },
    ]);
  });

  test('unknown demand holds, and does not count towards the idle time', () => {
    walk([
      { atMs: 0, jobs: 2, workers: 2, expected: [2, 'demand'] },
      { atMs: 1_000, jobs: 0, workers: 2, expected: [2, 'idle-grace'] },
      { atMs: 9_000, jobs: null, workers: 2, expected: [2, 'demand-unknown'] },
      { atMs: 60_000, jobs: null, workers: 2, expected: [2, 'demand-unknown'] },
      { atMs: 61_000, jobs: 0, workers: 2, expected: [2, 'idle-grace'] },
      { atMs: 70_999, jobs: 0, workers: 2, expected: [2, 'idle-grace'] },
      { atMs: 71_000, jobs: 0, workers: 2, expected: [0, 'no-demand'] },
    ]);
  });

  test('a loop that just started sees a whole window first', () => {
    walk(
      [
        { atMs: 0, jobs: 0, workers: 3, expected: [3, 'idle-grace'] },
        { atMs: 9_999, jobs: 0, workers: 3, expected: [3, 'idle-grace'] },
        { atMs: 10_000, jobs: 0, workers: 3, expected: [0, 'no-demand'] },
      ],
      rangeOf(),
      null,
    );
  });

  test('a loop that did not look for long does not take the gap for a quiet time', () => {
    walk([
      { atMs: 0, jobs: 3, workers: 3, expected: [3, 'demand'] },
      { atMs: 60_000, jobs: 0, workers: 3, expected: [3, 'idle-grace'] },
      { atMs: 70_000, jobs: 0, workers: 3, expected: [0, 'no-demand'] },
    ]);
  });

  test('without an idle timeout the window is ten seconds', () => {
    walk(
      [
        { atMs: 0, jobs: 1, workers: 1, expected: [1, 'demand'] },
        { atMs: 0, jobs: 0, workers: 1, expected: [1, 'idle-grace'] },
        { atMs: 9_999, jobs: 0, workers: 1, expected: [1, 'idle-grace'] },
        { atMs: 10_000, jobs: 0, workers: 1, expected: [0, 'no-demand'] },
      ],
      rangeOf({ idleTimeoutSeconds: null }),
    );
  });

  test('grace keeps workers, it does not bring those that were never placed', () => {
    walk([
      { atMs: 0, jobs: 5, workers: 1, expected: [5, 'demand'] },
      { atMs: 1_000, jobs: 0, workers: 1, expected: [1, 'idle-grace'] },
    ]);
  });
});
