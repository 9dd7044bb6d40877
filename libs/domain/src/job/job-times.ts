import type { AttemptPlace } from './attempt.js';

export interface JobTimes {
  /** From submission, or the last requeue, to the take; integer ms. */
  readonly delayTime: number;
  /** From the take to the end, or to now while running; integer ms. */
  readonly executionTime: number;
}

export interface TimedJob {
  readonly queuedAtMs: number;
  readonly endedAtMs: number | null;
  readonly current: Pick<AttemptPlace, 'startedAtMs'> | null;
}

/** The two durations of the job API (API decisions 2.3). */
export function jobTimes(job: TimedJob, nowMs: number): JobTimes {
  const startedAtMs = job.current?.startedAtMs;
  const untilMs = job.endedAtMs ?? nowMs;
  if (startedAtMs === undefined) return { delayTime: elapsed(job.queuedAtMs, untilMs), executionTime: 0 };
  return { delayTime: elapsed(job.queuedAtMs, startedAtMs), executionTime: elapsed(startedAtMs, untilMs) };
}

const elapsed = (fromMs: number, toMs: number): number => Math.max(0, Math.round(toMs - fromMs));
