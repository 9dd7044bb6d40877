import type { Clock } from '@berth/lifecycle';
import type { SeededRandom } from '../clock/seeded-random.js';

/** Something that dies and freezes as a whole. Nothing runs for a dead one any more; for a frozen one it runs later. */
export interface SimulatedProcess {
  readonly name: string;
  isAlive: boolean;
  frozenUntilMs: number;
}

/** A longer standstill that it is in already stays. */
export function freeze(process: SimulatedProcess, untilMs: number): void {
  process.frozenUntilMs = Math.max(process.frozenUntilMs, untilMs);
}

export const newProcess = (name: string): SimulatedProcess => ({ name, isAlive: true, frozenUntilMs: 0 });

/** What a step returns that did nothing: nobody need be waited for. */
export const IDLE = Symbol('idle');

/** One step of a process. */
export type Step = () => typeof IDLE | void;

interface Happening {
  readonly dueMs: number;
  readonly order: number;
  readonly process: SimulatedProcess;
  readonly run: Step;
}

/** Every promise that can settle has settled: cheaper than a turn of the event loop, and nothing here waits for one. */
const letSettle = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

const WAKING_MAX_MS = 30;

const comesFirst = (a: Happening, b: Happening): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

/** A virtual clock and everything that is going to happen, one after the other, in an order that the seed decides. */
export class LogWorld {
  readonly random: SeededRandom;
  /** Whatever lies outside of all processes: networks, disks. It never dies. */
  readonly outside = newProcess('outside');
  #nowMs = 1_800_000_000_000;
  #order = 0;
  #happened = 0;
  readonly #heap: Happening[] = [];

  constructor(random: SeededRandom) {
    this.random = random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** How many things have happened. */
  get happened(): number {
    return this.#happened;
  }

  /** @param afterMs whole milliseconds; 0: after everything else that is due now */
  post(process: SimulatedProcess, afterMs: number, run: Step): void {
    this.#order += 1;
    this.#put({ dueMs: this.#nowMs + afterMs, order: this.#order, process, run });
  }

  /** @param skewMs by which its calendar clock is ahead of the world's */
  clockOf(process: SimulatedProcess, skewMs: number): Clock {
    return {
      nowMs: () => this.#nowMs + skewMs,
      monotonicMs: () => this.#nowMs,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve(), { once: true });
          if (signal?.aborted === true) resolve();
          else this.post(process, Math.ceil(ms), resolve);
        }),
      after: (ms, act) => {
        let isWanted = true;
        this.post(process, Math.ceil(ms), () => {
          if (isWanted) act();
        });
        return () => {
          isWanted = false;
        };
      },
      every: () => {
        throw new Error('simulated processes have loops of their own');
      },
    };
  }

  /** Lets everything happen that is due by then, or until there is nothing more to wait for. */
  async runUntil(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    await letSettle();
    for (let next = this.#heap[0]; next !== undefined && next.dueMs <= untilMs && !isDone(); next = this.#heap[0]) {
      this.#takeFirst();
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      const { process } = next;
      if (!process.isAlive) continue;
      if (process.frozenUntilMs > this.#nowMs) {
        // A process that wakes finds timers and messages in any order.
        this.#put({ ...next, dueMs: process.frozenUntilMs + this.random.integer(0, WAKING_MAX_MS) });
        continue;
      }
      if (next.run() === IDLE) continue;
      this.#happened += 1;
      await letSettle();
    }
    if (!isDone()) this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #put(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(happening);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Happening;
      if (!comesFirst(happening, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = happening;
  }

  #takeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      const right = heap[below + 1];
      if (right !== undefined && comesFirst(right, heap[below] as Happening)) below += 1;
      const child = heap[below] as Happening;
      if (!comesFirst(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}
