import type { ErrorCode } from '../errors/index.js';
import type { HostId, JobId, WorkerId } from '../ids.js';
import type { JobState, Payload } from '../job/index.js';
import type { EndpointBounds } from './bounds.js';
import type { KeyUse, LogFact } from './facts.js';
import type { JobBody, JobData } from './job-data.js';

/** When the edge sent it, Unix ms: an old command is dropped, since its repetition could not be told any more. */
interface Sent {
  readonly sentAtMs: number;
}

/** A job request that has passed every check at the edge, which made its id. */
export interface JobWish extends Pick<
  JobData,
  'jobId' | 'origin' | 'retentionMs' | 'executionTimeoutMs' | 'isLowPriority' | 'webhook' | 'bodyBytes'
> {
  readonly ttlMs: number;
  readonly body: JobBody;
}

/** A worker that waits for jobs. One `takeId` gets one answer, however often it comes. */
export interface TakeWish {
  readonly takeId: string;
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  /** How many jobs it can begin. */
  readonly slots: number;
  /** Chance that nobody can guess: the tokens of what it gets begin with it. */
  readonly secret: string;
}

export interface SubmitCommand extends Sent {
  readonly kind: 'submit';
  readonly jobs: readonly JobWish[];
  /** Null: the caller did not name the request. A named one may come in pieces: `item` is the first job's of this one. */
  readonly key: KeyUse | null;
  /** Workers that wait now, the longest wait first. */
  readonly takers: readonly TakeWish[];
  readonly bounds: EndpointBounds;
}

export interface TakeCommand extends Sent {
  readonly kind: 'take';
  readonly wishes: readonly TakeWish[];
}

/** In the name of one attempt, by the host that holds it. */
export interface AttemptProof {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
  readonly hostId: HostId;
}

export interface ProgressCommand extends AttemptProof {
  readonly kind: 'progress';
  readonly output: Payload;
  readonly outputBytes: number;
}

export interface FinishCommand extends AttemptProof {
  readonly kind: 'finish';
  readonly state: Extract<JobState, 'COMPLETED' | 'FAILED' | 'TIMED_OUT'>;
  /** Null only where it is `COMPLETED`. */
  readonly error: string | null;
  readonly output: Payload | null;
  readonly outputBytes: number;
  readonly chunks: number;
  readonly logTail: readonly string[];
}

export interface GiveUpCommand extends AttemptProof {
  readonly kind: 'give-up';
  readonly reason: string;
  /** False where nobody's job is at fault: given back unstarted, sibling killed, host drained. */
  readonly isCharged: boolean;
  readonly logTail: readonly string[];
  /** Chance in [0, 1). */
  readonly fraction: number;
}

export interface LetGoCommand extends AttemptProof {
  readonly kind: 'let-go';
  /** How long ago that was by the host's clock, ms. */
  readonly agoMs: number;
  readonly logTail: readonly string[];
}

export interface CancelCommand extends Sent {
  readonly kind: 'cancel';
  readonly jobId: JobId;
}

export interface RetryCommand extends Sent {
  readonly kind: 'retry';
  readonly jobId: JobId;
  /** Names the command: its repetition is answered as it was. */
  readonly retryId: string;
}

export interface ReplaceLifeCommand extends Sent {
  readonly kind: 'replace-life';
  readonly jobId: JobId;
  readonly leftMs: number;
}

export interface PurgeCommand extends Sent {
  readonly kind: 'purge';
  /** Names the command: its repetition is answered as it was. */
  readonly purgeId: string;
}

/** The command that makes everything happen that is due by now. */
export interface LookCommand {
  readonly kind: 'look';
  /** Chance in [0, 1), spread over all that is lost at one time. */
  readonly fraction: number;
}

/** A try of a delivery shall begin: everything of its sender's own that may fail is done. It counts from here on. */
export interface BeginTryCommand {
  readonly kind: 'begin-try';
  readonly jobId: JobId;
  readonly attempt: number;
  /** Chance that names the try: the command's repetition is answered as it was. */
  readonly token: string;
}

export interface EndTryCommand {
  readonly kind: 'end-try';
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
  readonly isSuccess: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
}

interface OpenCommand {
  readonly kind: 'open';
  readonly routerId: string;
}

interface DeleteCommand {
  readonly kind: 'delete';
}

export type EndpointCommand =
  | SubmitCommand
  | TakeCommand
  | ProgressCommand
  | FinishCommand
  | GiveUpCommand
  | LetGoCommand
  | CancelCommand
  | RetryCommand
  | ReplaceLifeCommand
  | PurgeCommand
  | LookCommand
  | BeginTryCommand
  | EndTryCommand
  | OpenCommand
  | DeleteCommand;

/** Which bound of an endpoint has no room for what is submitted. */
export type FullReason = 'too-many-jobs' | 'too-many-bytes' | 'too-many-keys' | 'too-many-deliveries';

/** Why a command is refused. Each is an ordinary outcome, with a code of the one table for the caller. */
export interface CommandRefusal {
  readonly kind: 'refused';
  readonly reason: 'no-job' | 'not-retriable' | 'key-reused' | 'endpoint-deleted' | FullReason | 'too-large';
  readonly code: ErrorCode;
  /** Public: it may be shown to the caller as it is. */
  readonly detail: string;
  /** Null where waiting does not help. */
  readonly retryAfterMs: number | null;
}

export interface AttemptGiven {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
}

export interface TakeAnswered {
  readonly takeId: string;
  readonly jobs: readonly AttemptGiven[];
}

export type CommandAnswer =
  /** The facts are to be applied, and the command decided again: there was something to be done first, or in slices. */
  | { readonly kind: 'again' }
  /** Too old to be told from its repetition. The drop is told to nobody. */
  | { readonly kind: 'dropped' }
  | CommandRefusal
  /** All jobs of the command are. `isReplayed`: some were before it came. */
  | { readonly kind: 'accepted'; readonly jobIds: readonly JobId[]; readonly isReplayed: boolean }
  /** The key stands for jobs of these ids, of which so many are accepted: what is left is to be sent with them, in order. */
  | { readonly kind: 'named-before'; readonly firstId: JobId; readonly size: number; readonly accepted: number }
  | { readonly kind: 'takes'; readonly takes: readonly TakeAnswered[] }
  /** `superseded`: the attempt is over, its word is dropped, and repeating it changes nothing. */
  | { readonly kind: 'recorded' | 'superseded' }
  /** Too soon after the last progress: to be said again then, unless there is newer. */
  | { readonly kind: 'later'; readonly atMs: number }
  | { readonly kind: 'job'; readonly jobId: JobId; readonly state: JobState }
  | { readonly kind: 'purged'; readonly removed: number }
  /** The request is to have been made by then, Unix ms, and its end written down. */
  | { readonly kind: 'begun'; readonly untilMs: number }
  | { readonly kind: 'looked' | 'opened' | 'deleted' };

/** The facts that shall be written, and the answer that is to be told once they are. */
export interface CommandDecision {
  readonly facts: readonly LogFact[];
  readonly answer: CommandAnswer;
}
