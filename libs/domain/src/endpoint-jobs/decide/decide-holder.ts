import { CHARGED_ATTEMPTS_MAX, isEnded, retryDelayMs } from '../../job/index.js';
import { utf8Bytes } from '../../text/index.js';
import {
  FACT_ERROR_MAX_BYTES,
  LOG_TAIL_MAX_BYTES,
  OUTPUT_MAX_BYTES,
  PROGRESS_INTERVAL_MS,
  REASON_MAX_BYTES,
  UNSTARTED_MAX,
} from '../bounds.js';
import type {
  AttemptProof,
  CommandDecision,
  FinishCommand,
  GiveUpCommand,
  LetGoCommand,
  ProgressCommand,
} from '../commands.js';
import type { FinishedFact, LostFact } from '../facts.js';
import type { JobData } from '../job-data.js';
import type { EndpointState, LivingJob } from '../state.js';
import { boundedEnds, boundedText } from '../text-bytes.js';
import { decided, refused, summaryOf } from './outcome.js';

const RECORDED = decided({ kind: 'recorded' });
const SUPERSEDED = decided({ kind: 'superseded' });

/** The job, where this attempt of this host has it, or had it at its end. */
function findOwn(state: EndpointState, { attempt, hostId, jobId, token }: AttemptProof): LivingJob | null {
  const job = state.jobs.get(jobId);
  const current = job?.data.attempt === attempt ? job.data.current : null;
  return job !== undefined && current?.token === token && current.hostId === hostId ? job : null;
}

export function findHeld(state: EndpointState, proof: AttemptProof): LivingJob | null {
  const job = findOwn(state, proof);
  return job?.data.state === 'IN_PROGRESS' ? job : null;
}

export function decideProgress(state: EndpointState, command: ProgressCommand, atMs: number): CommandDecision {
  const { attempt, jobId, output, outputBytes } = command;
  const job = findHeld(state, command);
  if (job === null) return SUPERSEDED;
  const nextAtMs = (job.data.current?.progressedAtMs ?? -PROGRESS_INTERVAL_MS) + PROGRESS_INTERVAL_MS;
  if (atMs < nextAtMs) return decided({ kind: 'later', atMs: nextAtMs });
  if (isTooLarge(command)) return outputTooLarge();
  return decided({ kind: 'recorded' }, [{ kind: 'progressed', atMs, jobId, attempt, output, outputBytes }]);
}

/** By the current token only. Its repeat is recorded again; what was cancelled shows nothing. */
export function decideFinish(state: EndpointState, command: FinishCommand, atMs: number): CommandDecision {
  const own = findOwn(state, command);
  if (own === null || own.data.state === 'CANCELLED') return SUPERSEDED;
  if (isEnded(own.data.state)) return RECORDED;
  if (isTooLarge(command)) return outputTooLarge();
  return decided({ kind: 'recorded' }, [finishedBy(command, own.data, atMs)]);
}

/** Nothing is shown of what ran out of time, and no error of what was completed. */
function finishedBy(command: FinishCommand, data: JobData, atMs: number): FinishedFact {
  const { attempt, chunks, jobId, state, token } = command;
  const output = state === 'TIMED_OUT' ? null : command.output;
  const fault = state === 'COMPLETED' ? null : command.error;
  return {
    kind: 'finished',
    atMs,
    jobId,
    attempt,
    token,
    state,
    error: fault === null ? null : boundedEnds(fault, FACT_ERROR_MAX_BYTES),
    output,
    outputBytes: output === null ? 0 : command.outputBytes,
    chunks,
    logTail: state === 'COMPLETED' ? [] : boundedTail(command.logTail),
    summary: summaryOf(data),
  };
}

/** In the log an output counts as text; one that is a blob lies elsewhere. */
const isTooLarge = ({ output }: Pick<FinishCommand, 'output'>): boolean =>
  output?.kind === 'inline' && (output.json.length > OUTPUT_MAX_BYTES || utf8Bytes(output.json) > OUTPUT_MAX_BYTES);

const outputTooLarge = (): CommandDecision =>
  refused({
    reason: 'too-large',
    code: 'body-too-large',
    detail: `An output above ${OUTPUT_MAX_BYTES} bytes is to be stored before it is told.`,
  });

/** The newest lines that fit. */
function boundedTail(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let left = LOG_TAIL_MAX_BYTES;
  for (const line of lines.toReversed()) {
    const text = boundedText(line, LOG_TAIL_MAX_BYTES);
    left -= utf8Bytes(text) + 1;
    if (left < 0) break;
    kept.unshift(text);
  }
  return kept;
}

export function decideGiveUp(state: EndpointState, command: GiveUpCommand, atMs: number): CommandDecision {
  const job = findHeld(state, command);
  if (job === null) return SUPERSEDED;
  const { fraction, isCharged, logTail, reason } = command;
  // A fault that the host itself tells of was the worker's, so it had begun.
  const fault = isCharged ? 'charged' : 'none';
  return decided({ kind: 'recorded' }, [lose(state, job.data, { atMs, fault, fraction, logTail, reason, ahead: 0 })]);
}

/** The host that should have renewed is silent. */
export const WORKER_LOST = 'worker lost: its host stopped answering';

export interface Losing {
  readonly atMs: number;
  /** `silent`: charged where the attempt had started, and where it is the third in a row that had not. */
  readonly fault: 'none' | 'charged' | 'silent';
  readonly reason: string;
  readonly logTail: readonly string[];
  readonly fraction: number;
  /** Queue places that other facts of the same decision use. */
  readonly ahead: number;
}

/** Queues the job again, or fails it when faults have cost it all the attempts that it may have. */
export function lose(state: EndpointState, data: JobData, losing: Losing): LostFact {
  const { atMs, ahead, fraction, logTail } = losing;
  const { charged, isFault, unstarted } = chargeOf(data, losing.fault);
  const reason = boundedText(losing.reason, REASON_MAX_BYTES);
  const isOver = charged >= CHARGED_ATTEMPTS_MAX;
  const delayMs = isFault ? retryDelayMs(Math.max(charged, unstarted), fraction) : 0;
  return {
    kind: 'lost',
    atMs,
    jobId: data.jobId,
    attempt: data.attempt,
    reason,
    charged,
    unstarted,
    logTail: boundedTail(logTail),
    next: isOver ? null : { queuePlace: state.nextOrdinal + ahead, notBeforeMs: atMs + delayMs },
    error: isOver
      ? boundedText(
          `${clipReason(losing.reason)} (attempt ${charged} of ${CHARGED_ATTEMPTS_MAX})`,
          FACT_ERROR_MAX_BYTES,
        )
      : null,
    summary: summaryOf(data),
  };
}

const SUFFIX_BYTES = 64;

const clipReason = (reason: string): string => boundedEnds(reason, FACT_ERROR_MAX_BYTES - SUFFIX_BYTES);

interface Charge extends Pick<JobData, 'charged' | 'unstarted'> {
  readonly isFault: boolean;
}

function chargeOf({ charged, current, unstarted }: JobData, fault: Losing['fault']): Charge {
  if (fault === 'none') return { charged, unstarted, isFault: false };
  const isStarted = fault === 'charged' || current?.isStarted === true;
  if (isStarted || unstarted + 1 >= UNSTARTED_MAX) return { charged: charged + 1, unstarted: 0, isFault: true };
  return { charged, unstarted: unstarted + 1, isFault: true };
}

/** Notes once when the worker of a stopped attempt really let go. */
export function decideLetGo(state: EndpointState, command: LetGoCommand, atMs: number): CommandDecision {
  const job = findOwn(state, command);
  const last = job?.data.history.at(-1);
  const isStopped = job?.data.state === 'CANCELLED' || job?.data.state === 'TIMED_OUT';
  if (job === null || !isStopped || last?.attempt !== command.attempt) return SUPERSEDED;
  if (last.stoppedAtMs !== null) return RECORDED;
  // Clocks of hosts are not the owner's: what lies outside the attempt's own time is brought back to it.
  const stoppedAtMs = Math.max(last.startedAtMs, Math.min(atMs - command.agoMs, atMs));
  const { attempt, jobId } = command;
  const { createdAtMs } = job.data;
  const logTail = boundedTail(command.logTail);
  return decided({ kind: 'recorded' }, [{ kind: 'let-go', atMs, jobId, attempt, createdAtMs, stoppedAtMs, logTail }]);
}
