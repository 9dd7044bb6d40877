import type { Scaling, WorkerRange } from '../endpoint/index.js';
import { totalWorkers, type WorkerCounts } from './count-workers.js';
import type { Demand } from './demand.js';
import type { AddedForDelay } from './queue-delay.js';
import { withLevel, type WantedLevel } from './stable-window.js';
import { DEMAND_REASONS, wantedWorkers, type Wanted } from './wanted-workers.js';

/** Window of the one combination without an idle timeout: a queue that scales on its request count. */
export const STABLE_WINDOW_DEFAULT_MS = 10_000;

export const SCALE_REASONS = [
  ...DEMAND_REASONS,
  'at-min', // fewer would do, the minimum forbids it
  'at-max', // more would be wanted, the maximum forbids it
  'idle-grace', // fewer would do, but not for long enough yet
  'demand-unknown', // no fresh signal: nothing changes
] as const;

export type ScaleReason = (typeof SCALE_REASONS)[number];

/** What the loop has to remember between two decisions. Losing it costs one window without scale-down, nothing else. */
export interface ScaleMemory {
  readonly levels: readonly WantedLevel[];
  readonly addedForDelay: AddedForDelay | null;
}

export interface ScaleView {
  readonly scaling: Scaling;
  readonly range: WorkerRange;
  /** Null: no fresh signal. Unknown is not zero. */
  readonly demand: Demand | null;
  readonly workers: WorkerCounts;
  /** See `WantedQuestion`. */
  readonly strictWorkers?: number;
  /** Null at the first decision after the loop started. */
  readonly memory: ScaleMemory | null;
}

export interface ScaleDecision {
  readonly desiredWorkers: number;
  readonly reason: ScaleReason;
  /** The reason as a sentence without its full stop, with the numbers it rests on. */
  readonly detail: string;
  readonly memory: ScaleMemory;
  /** When the passing of time alone may change the decision; null if never. */
  readonly recheckAtMs: number | null;
}

/**
 * How many workers an endpoint should have now. Growth is immediate. A lower number counts only after nothing more was
 * wanted for the whole idle time, and time in which the demand was unknown, or the loop had just started, does not
 * count towards it. The range holds always.
 */
export function decideScale(view: ScaleView, nowMs: number): ScaleDecision {
  const { range, demand, workers } = view;
  const memory = view.memory ?? memoryOf(totalWorkers(workers), nowMs);
  const windowMs = range.idleTimeoutSeconds === null ? STABLE_WINDOW_DEFAULT_MS : range.idleTimeoutSeconds * 1000;
  if (demand === null) return holdUnknown(range, memory, nowMs);
  const wanted = wantedWorkers({ ...view, demand, addedForDelay: memory.addedForDelay }, nowMs);
  const levels = withLevel(capped(memory.levels, range.max), Math.min(wanted.workers, range.max), { windowMs, nowMs });
  const [highest] = levels;
  // Grace keeps workers that are there. It is no reason to bring one that could not be placed, or was lost, meanwhile.
  const target = Math.max(wanted.workers, Math.min(highest.workers, totalWorkers(workers)));
  const shrinksAtMs = levels.length > 1 ? highest.untilMs + windowMs : null;
  return {
    ...clamp(range, wanted, target),
    memory: { levels, addedForDelay: wanted.addedForDelay },
    recheckAtMs: earlier(wanted.recheckAtMs, shrinksAtMs),
  };
}

const memoryOf = (workers: number, nowMs: number): ScaleMemory => ({
  levels: [{ workers, untilMs: nowMs }],
  addedForDelay: null,
});

function holdUnknown(range: WorkerRange, memory: ScaleMemory, nowMs: number): ScaleDecision {
  const held = memory.levels[0]?.workers ?? 0;
  return {
    desiredWorkers: withinRange(range, held),
    reason: 'demand-unknown',
    detail: 'no router has reported the demand lately, so nothing changes',
    memory: { ...memory, levels: [{ workers: held, untilMs: nowMs }] },
    recheckAtMs: null,
  };
}

/** A maximum that was lowered is not forgotten when it is raised again. */
const capped = (levels: readonly WantedLevel[], max: number): readonly WantedLevel[] =>
  levels.map((level) => ({ ...level, workers: Math.min(level.workers, max) }));

type Target = Pick<ScaleDecision, 'desiredWorkers' | 'reason' | 'detail'>;

function clamp(range: WorkerRange, wanted: Wanted, target: number): Target {
  const desiredWorkers = withinRange(range, target);
  if (wanted.workers > range.max) {
    return {
      desiredWorkers,
      reason: 'at-max',
      detail: `${wanted.detail}; ${wanted.workers} wanted, at most ${range.max}`,
    };
  }
  if (target < range.min) {
    return { desiredWorkers, reason: 'at-min', detail: `${wanted.detail}; at least ${range.min} are kept` };
  }
  if (desiredWorkers > wanted.workers) {
    return { desiredWorkers, reason: 'idle-grace', detail: `${wanted.detail}; ${wanted.workers} would do` };
  }
  return { desiredWorkers, reason: wanted.reason, detail: wanted.detail };
}

/** The maximum wins where a range contradicts itself. */
const withinRange = ({ min, max }: WorkerRange, workers: number): number => Math.min(max, Math.max(min, workers));

const earlier = (a: number | null, b: number | null): number | null => {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
};
