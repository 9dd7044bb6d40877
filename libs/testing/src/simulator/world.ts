import type { Clock } from '@berth/lifecycle';
import { letRun } from '../clock/manual-clock.js';
import type { SeededRandom } from '../clock/seeded-random.js';

/** A process of the simulated system. A dead one never takes another step, a frozen one none until it thaws. */
export interface Owner {
  readonly name: string;
  isAlive: boolean;
  frozenUntilMs: number;
}

export const newOwner = (name: string): Owner => ({ name, isAlive: true, frozenUntilMs: 0 });

interface Step {
  readonly owner: Owner;
  readonly resume: () => void;
}

interface Sleeper extends Step {
  readonly dueMs: number;
}

/** Virtual ms that one step may cost: message delays are chance. */
const STEP_COST_MAX_MS = 20;

/**
 * Runs asynchronous code one step at a time, in an order that the seed decides, under a virtual clock.
 * Code yields at every write and read through `step`; between two of them its process may die.
 */
export class World {
  nowMs = 1_750_000_000_000;
  readonly random: SeededRandom;
  readonly #steps: Step[] = [];
  readonly #sleepers: Sleeper[] = [];
  #stepsTaken = 0;

  constructor(random: SeededRandom) {
    this.random = random;
  }

  get stepsTaken(): number {
    return this.#stepsTaken;
  }

  step(owner: Owner): Promise<void> {
    return new Promise((resume) => {
      this.#steps.push({ owner, resume });
    });
  }

  sleep(owner: Owner, ms: number): Promise<void> {
    return new Promise((resume) => {
      this.#sleepers.push({ owner, resume, dueMs: this.nowMs + ms });
    });
  }

  clockOf(owner: Owner): Clock {
    return {
      nowMs: () => this.nowMs,
      monotonicMs: () => this.nowMs,
      sleep: (ms) => this.sleep(owner, ms),
      every: () => {
        throw new Error('simulated code uses loops with sleep');
      },
    };
  }

  /** Takes steps until `isDone`, or until the bound, which is a bug of the system under test (it never comes to rest). */
  async run(isDone: () => boolean, stepsMax: number): Promise<void> {
    await letRun();
    while (!isDone()) {
      if (this.#stepsTaken >= stepsMax) throw new Error(`no rest after ${stepsMax} steps`);
      this.#takeStep();
      await letRun();
    }
  }

  #takeStep(): void {
    this.#stepsTaken += 1;
    this.#wakeDue();
    if (this.#steps.length === 0) {
      this.#skipToNextSleeper();
      return;
    }
    this.nowMs += this.random.integer(0, STEP_COST_MAX_MS);
    const [step] = this.#steps.splice(this.random.integer(0, this.#steps.length - 1), 1);
    if (step?.owner.isAlive !== true) return;
    if (step.owner.frozenUntilMs > this.nowMs) this.#sleepers.push({ ...step, dueMs: step.owner.frozenUntilMs });
    else step.resume();
  }

  #wakeDue(): void {
    for (let i = this.#sleepers.length - 1; i >= 0; i -= 1) {
      const sleeper = this.#sleepers[i];
      if (sleeper === undefined || sleeper.dueMs > this.nowMs) continue;
      this.#sleepers.splice(i, 1);
      if (sleeper.owner.isAlive) this.#steps.push(sleeper);
    }
  }

  #skipToNextSleeper(): void {
    const next = this.#sleepers.reduce((least, sleeper) => Math.min(least, sleeper.dueMs), Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY) throw new Error('everything has stopped');
    this.nowMs = Math.max(this.nowMs, next);
  }
}
