import { describe, expect, test } from '@jest/globals';
import { ControlLoop } from './control-loop.js';
import { systemClock } from './system-clock.js';

const HOUR_MS = 3_600_000;

/** A loop that would sleep for an hour between two runs, so that only hints make it run again. */
class Runs {
  count = 0;
  readonly errors: unknown[] = [];
  readonly #waiting = new Map<number, () => void>();
  readonly loop: ControlLoop;

  constructor(run: (count: number) => Promise<void> = () => Promise.resolve()) {
    this.loop = new ControlLoop({
      name: 'test',
      intervalMs: HOUR_MS,
      clock: systemClock,
      onError: (_, error) => this.errors.push(error),
      run: async () => {
        this.count += 1;
        this.#waiting.get(this.count)?.();
        await run(this.count);
      },
    });
  }

  /** Resolves when the run of this number has begun. */
  begun(count: number): Promise<void> {
    if (this.count >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(count, resolve));
  }
}

describe('a control loop', () => {
  test('runs when it starts, and again when it is hurried', async () => {
    const runs = new Runs();
    runs.loop.start();
    await runs.begun(1);
    runs.loop.hurry();
    await runs.begun(2);
    await runs.loop.stop();
    expect(runs.count).toBe(2);
  });

  test('runs once more for a hint that came during a run, however many came', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const runs = new Runs((count) => (count === 1 ? gate : Promise.resolve()));
    runs.loop.start();
    await runs.begun(1);
    for (let hint = 0; hint < 5; hint += 1) runs.loop.hurry();
    open();
    await runs.begun(2);
    await runs.loop.stop();
    expect(runs.count).toBe(2);
  });

  test('runs once for many paced hints, when the pause since the last run is over', async () => {
    const pauseMs = 40;
    const beganAtMs: number[] = [];
    const runs = new Runs(() => Promise.resolve(void beganAtMs.push(systemClock.monotonicMs())));
    runs.loop.start();
    await runs.begun(1);
    for (let hint = 0; hint < 1_000; hint += 1) runs.loop.hurryPaced(pauseMs);
    await runs.begun(2);
    expect(Number(beganAtMs[1]) - Number(beganAtMs[0])).toBeGreaterThan(pauseMs / 2);
    runs.loop.hurryPaced(0);
    await runs.begun(3);
    await runs.loop.stop();
    expect(runs.count).toBe(3);
  });

  test('goes on after a run that failed, and tells of it', async () => {
    const runs = new Runs((count) => (count === 1 ? Promise.reject(new Error('first')) : Promise.resolve()));
    runs.loop.start();
    await runs.begun(1);
    runs.loop.hurry();
    await runs.begun(2);
    await runs.loop.stop();
    expect(runs.errors).toEqual([new Error('first')]);
  });

  test('starts once and stops for good, also when told twice', async () => {
    const runs = new Runs();
    runs.loop.start();
    runs.loop.start();
    await runs.begun(1);
    await Promise.all([runs.loop.stop(), runs.loop.stop()]);
    runs.loop.hurry();
    runs.loop.start();
    expect(runs.count).toBe(1);
  });
});
