import type { JobId } from '../ids.js';

/** When a worker had a job. Instants are Unix ms. */
export interface JobSpan {
  readonly jobId: JobId;
  readonly fromMs: number;
  /** Null while it runs. */
  readonly toMs: number | null;
}

/** Ended jobs that are remembered of one worker: lines are read within a second of being printed, as a rule. */
const ENDED_MAX = 64;
/** How much later than its end a line of a job may seem to be printed: its result and its last line leave side by side. */
const LATE_MS = 500;
/** The members under which worker SDKs name the job of a line (wire contract 1.2). */
const NAMES = ['requestId', 'request_id', 'job_id', 'jobId'];
const ID = /^[A-Za-z0-9_-]{1,128}$/;

export const noteJobStart = (spans: readonly JobSpan[], jobId: JobId, nowMs: number): readonly JobSpan[] => [
  ...spans.filter((span) => span.jobId !== jobId),
  { jobId, fromMs: nowMs, toMs: null },
];

/** The oldest of too many ended jobs are forgotten. */
export function noteJobEnd(spans: readonly JobSpan[], jobId: JobId, nowMs: number): readonly JobSpan[] {
  const noted = spans.map((span) => (span.jobId === jobId ? { ...span, toMs: span.toMs ?? nowMs } : span));
  const ended = noted.filter(({ toMs }) => toMs !== null);
  const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - ENDED_MAX)));
  return noted.filter((span) => !forgotten.has(span));
}

/**
 * The job that a line is about: the one that the line names, as worker SDKs write it, or else the only one that the worker
 * had when it was printed. Undefined where it may be of several, or of none.
 */
export function jobOfLine(text: string, atMs: number, spans: readonly JobSpan[]): string | undefined {
  const named = jobNamedIn(text);
  if (named !== undefined) return named;
  const running = spans.filter(({ fromMs, toMs }) => fromMs <= atMs && (toMs === null || atMs <= toMs));
  const near = running.length > 0 ? running : spans.filter((span) => isJustOver(span, atMs));
  return near.length === 1 ? near[0]?.jobId : undefined;
}

const isJustOver = ({ fromMs, toMs }: JobSpan, atMs: number): boolean =>
  toMs !== null && fromMs <= atMs && atMs > toMs && atMs <= toMs + LATE_MS;

function jobNamedIn(text: string): string | undefined {
  if (!text.startsWith('{') || !NAMES.some((name) => text.includes(name))) return undefined;
  try {
    const line = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const named = NAMES.map((name) => line[name]).find((value) => typeof value === 'string' && ID.test(value));
    return named as string | undefined;
  } catch {
    // A line that only looks like one of theirs names no job.
    return undefined;
  }
}
