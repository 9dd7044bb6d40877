import { ManualClock, SeededRandom } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { duringStep } from './during-step.js';
import { NO_TRACES } from './no-traces.js';
import { RecordedTraces } from './recorded-traces.js';
import { formatTraceparent } from './traceparent.js';
import type { Span } from './traces.port.js';

const GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const UNRECORDED = GIVEN.replace(/01$/, '00');
const KEYED = { hasKey: true };
const STRANGER = { hasKey: false };

let clock: ManualClock;
let spans: Span[];
const tracesOf = (permille: number): RecordedTraces =>
  new RecordedTraces({ sink: (span) => spans.push(span), clock, random: new SeededRandom(1), permille });

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  spans = [];
});

describe('a request', () => {
  test('continues the trace of a caller that records it', () => {
    const { context, step } = tracesOf(0).enter({ traceparent: GIVEN }, KEYED);
    step?.end({ name: 'GET /x', kind: 'server' });
    expect(spans).toMatchObject([
      { name: 'GET /x', context: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736' }, parentSpanId: '00f067aa0ba902b7' },
    ]);
    expect(spans[0]?.context).toEqual(context);
  });

  test('of a caller that does not record it, or that is not drawn, passes its trace as it is', () => {
    const { context, step } = tracesOf(1_000).enter({ traceparent: UNRECORDED }, KEYED);
    expect([formatTraceparent(context), step]).toEqual([UNRECORDED, null]);
  });

  test('keeps its trace where nothing is recorded, but nobody behind is told to record it', () => {
    const { context, step } = NO_TRACES.enter({ traceparent: GIVEN }, KEYED);
    expect([formatTraceparent(context), step]).toEqual([UNRECORDED, null]);
    expect(formatTraceparent(NO_TRACES.enter({}, KEYED).context)).toMatch(/-00$/);
  });

  test.each([
    [0, 0],
    [1_000, 1_000],
  ])('without a trace begins one: %d of a thousand are recorded', (permille, recorded) => {
    const traces = tracesOf(permille);
    const steps = Array.from({ length: 1_000 }, () => traces.enter({}, STRANGER).step);
    expect(steps.filter((step) => step !== null)).toHaveLength(recorded);
  });

  test('is drawn by chance', () => {
    const traces = tracesOf(100);
    const drawn = Array.from({ length: 10_000 }, () => traces.enter({}, STRANGER).step).filter((step) => step !== null);
    expect(drawn.length).toBeGreaterThan(800);
    expect(drawn.length).toBeLessThan(1_200);
  });

  test("is recorded at its caller's wish a hundred times in a second, and again in the next", async () => {
    const traces = tracesOf(0);
    const granted = (who: { hasKey: boolean }) =>
      Array.from({ length: 150 }, () => traces.enter({ traceparent: GIVEN }, who).step).filter((step) => step !== null);
    // Who has shown no key takes nothing from those who have.
    expect([granted(STRANGER).length, granted(KEYED).length]).toEqual([10, 100]);
    await clock.advance(1_000);
    expect([granted(KEYED).length, granted(STRANGER).length]).toEqual([100, 10]);
  });

  test('has begun when it came, although its key was looked at since', () => {
    tracesOf(0)
      .enter({ traceparent: GIVEN }, { ...KEYED, agoMs: 30 })
      .step?.end({ name: 'GET /x' });
    expect(spans).toMatchObject([{ startMs: 999_970, endMs: 1_000_000 }]);
  });
});

describe('a step', () => {
  test('is told once, with its time, below the step that it belongs to', async () => {
    const step = tracesOf(0).step(GIVEN, { agoMs: 500 });
    await clock.advance(250);
    step?.end({ name: 'a' });
    step?.end({ name: 'b' });
    expect(spans).toMatchObject([{ name: 'a', parentSpanId: '00f067aa0ba902b7', startMs: 999_500, endMs: 1_000_250 }]);
    expect(step?.traceparent).toBe(`00-4bf92f3577b34da6a3ce929d0e0e4736-${spans[0]?.context.spanId}-01`);
  });

  test('of a trace that is not recorded is none, but afterwards it may be', () => {
    const traces = tracesOf(1_000);
    expect([UNRECORDED, null, undefined, '', 'no trace-01'].map((each) => traces.step(each))).toEqual(
      Array.from({ length: 5 }, () => null),
    );
    const late = traces.afterwards(UNRECORDED);
    expect(traces.step(late?.traceparent)).not.toBeNull();
    expect(NO_TRACES.afterwards(UNRECORDED)).toBeNull();
  });

  test('with a name has the same id wherever it is told', () => {
    const ids = ['attempt 1', 'attempt 1', 'attempt 2'].map((name) => tracesOf(0).step(GIVEN, { name })?.traceparent);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  test('around work ends with it, and tells of an error its kind alone', async () => {
    const step = () => tracesOf(0).step(GIVEN);
    expect(await duringStep(step(), { name: 'well' }, () => Promise.resolve(7))).toBe(7);
    const failure = new RangeError('hunter2');
    await expect(duringStep(step(), { name: 'ill' }, () => Promise.reject(failure))).rejects.toBe(failure);
    await expect(duringStep(null, { name: 'none' }, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(spans).toMatchObject([{ name: 'well' }, { name: 'ill', error: 'RangeError' }]);
  });
});
