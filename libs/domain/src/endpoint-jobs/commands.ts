import type { ErrorCode } from '../errors/index.js';
import type { HostId, JobId, WorkerId } from '../ids.js';
import type { JobState, Payload } from '../job/index.js';
import type { EndpointBounds } from './bounds.js';
import type { DeliveryTriedFact, LogFact } from './facts.js';
import type { JobBody, JobData, KeyData } from './job-data.js';

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
  /** Null: the caller did not name the request. */
  readonly key: Pick<KeyData, 'name' | 'fingerprint'> | null;
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

/** What is due by now shall happen. */
export interface LookCommand {
  readonly kind: 'look';
  /** Chance in [0, 1), spread over all that is lost at one time. */
  readonly fraction: number;
  /** Begins the claim tokens of the tries that this look lets begin. */
  readonly secret: string;
  /** How many tries of deliveries may begin now. */
  readonly triesMax: number;
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
  | EndTryCommand
  | OpenCommand
  | DeleteCommand;

/** Why a command is refused. Each is an ordinary outcome, with a code of the one table for the caller. */
export interface CommandRefusal {
  readonly kind: 'refused';
  readonly reason:
    | 'no-job'
    | 'not-retriable'
    | 'key-reused'
    | 'endpoint-deleted'
    | 'too-many-jobs'
    | 'too-many-bytes'
    | 'too-many-keys'
    | 'too-many-deliveries'
    | 'too-large';
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
  /** Too old to be told from its repetition. Nobody is to be told anything. */
  | { readonly kind: 'dropped' }
  | CommandRefusal
  | { readonly kind: 'accepted'; readonly jobIds: readonly JobId[]; readonly isReplayed: boolean }
  /** The key stands for jobs of other ids, some of which are still to be made: to be sent with those. */
  | { readonly kind: 'named-before'; readonly firstId: JobId; readonly size: number }
  | { readonly kind: 'takes'; readonly takes: readonly TakeAnswered[] }
  /** `superseded`: the attempt is over, its word is dropped, and repeating it changes nothing. */
  | { readonly kind: 'recorded' | 'superseded' }
  /** Too soon after the last progress: to be said again then, unless there is newer. */
  | { readonly kind: 'later'; readonly atMs: number }
  | { readonly kind: 'job'; readonly jobId: JobId; readonly state: JobState }
  | { readonly kind: 'purged'; readonly removed: number }
  | { readonly kind: 'looked'; readonly tries: readonly DeliveryTriedFact[] }
  | { readonly kind: 'opened' | 'deleted' };

/** What shall be written, and what is to be said once it is. */
export interface CommandDecision {
  readonly facts: readonly LogFact[];
  readonly answer: CommandAnswer;
}
