import type {
  AccountLimitName,
  AttemptProof,
  BlobManifest,
  CancelCommand,
  CommandOutcome,
  DescribedJob,
  EndTryCommand,
  FinishCommand,
  GiveUpCommand,
  HostId,
  JobBody,
  JobCounts,
  JobId,
  JobSight,
  JobState,
  LeaseRenewal,
  LetGoCommand,
  ListedJob,
  PageKey,
  ProgressCommand,
  PurgeCommand,
  ReplaceLifeCommand,
  RetryCommand,
  Slice,
  SubmitCommand,
  TakeWish,
  ToldDelivery,
  WorkerId,
} from '@berth/domain';

export type { DescribedJob, ListedJob, ListedQueue, ToldDelivery } from '@berth/domain';

/**
 * The commands about which an edge has an owner decide. Workers that wait and the tenant's bounds are the owner's own
 * knowledge.
 */
export type OwnerCommand =
  | Omit<SubmitCommand, 'takers' | 'bounds'>
  | CancelCommand
  | RetryCommand
  | ReplaceLifeCommand
  | PurgeCommand
  | ProgressCommand
  | FinishCommand
  | GiveUpCommand
  | LetGoCommand
  | EndTryCommand;

/** The router that is to be told of a job for the next `WATCH_KEPT_MS`. */
export interface JobWatcher {
  /** Incarnation of the router, as its claims name it. */
  readonly router: string;
  /** `end`: only when it has ended or is gone. */
  readonly news: 'any' | 'end';
}

/** A job as its callers may see it, with the trace that it was submitted in. */
export interface FoundJob extends JobSight {
  /** Null: it has none. Absent: nobody asked for it, or the owner is of a version that does not tell it. */
  readonly traceparent?: string | null;
}

/** How long an owner tells a watcher that does not ask again. */
export const WATCH_KEPT_MS = 10_000;

/** The asker for a take, by the words of the wish: each that asks for the same one has a secret of its own. */
export type TakeAsker = Pick<TakeWish, 'takeId' | 'secret'>;

/** A job that a worker got, and all that it needs to run it. Durations in ms, from the sending of the answer. */
export interface AssignedJob {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
  readonly body: JobBody;
  readonly executionTimeoutMs: number;
  readonly expiresInMs: number;
  readonly delayTimeMs: number;
  readonly retries: number;
}

/** Whether an attempt is still its holder's, before something is written beside the log in its name. */
export type HoldAnswer =
  | {
      readonly kind: 'held';
      readonly createdAtMs: number;
      /** Null where the input lies in the log. */
      readonly input: BlobManifest | null;
      /** Incarnations of the routers that wait for news of the job: who writes a chunk tells them. */
      readonly watchers: readonly string[];
    }
  | { readonly kind: 'superseded' }
  /**
   * The attempt, or its account, has streamed as much as it may, which is `maxBytes`. `chunkRoom`: as much as its account
   * may have where the job's chunks lie, beside those of others.
   */
  | { readonly kind: 'full'; readonly limit: ChunkLimitName; readonly maxBytes: number };

export type ChunkLimitName = Extract<AccountLimitName, 'chunkBytes' | 'chunkBytesPerAttempt'> | 'chunkRoom';

/**
 * The questions of routers to the owner of an endpoint, by name. All of it is JSON, and safe to be asked again:
 * commands have names, a take has its id, and the rest changes nothing.
 */
interface OwnerQuestions {
  perform: { readonly question: { readonly command: OwnerCommand }; readonly answer: CommandOutcome };
  /** Null: there is no such job. `wantsTrace`: its trace is to be told as well; absent: it is not. */
  find: {
    readonly question: { readonly jobId: JobId; readonly watcher: JobWatcher | null; readonly wantsTrace?: boolean };
    readonly answer: FoundJob | null;
  };
  /** Null: there is no such job. */
  describe: { readonly question: { readonly jobId: JobId }; readonly answer: DescribedJob | null };
  list: {
    readonly question: {
      readonly before: PageKey | null;
      readonly limit: number;
      readonly statuses: readonly JobState[];
      /** Listed besides, whatever their status, where they are here. */
      readonly alsoIds: readonly JobId[];
    };
    readonly answer: Slice<ListedJob>;
  };
  count: { readonly question: object; readonly answer: JobCounts };
  /** Oldest first; null: there is neither the job nor any delivery of it. */
  deliveries: { readonly question: { readonly jobId: JobId }; readonly answer: readonly ToldDelivery[] | null };
  /** Held until a job comes or `waitMs` is over; then none. */
  take: {
    readonly question: { readonly wish: TakeWish; readonly waitMs: number };
    readonly answer: readonly AssignedJob[];
  };
  /**
   * The answer to a take reached nobody. Superseded also where somebody else has asked for the take since, or the owner
   * does not know that: then the job may be with its worker.
   */
  'take-back': {
    readonly question: { readonly asker: TakeAsker; readonly command: GiveUpCommand };
    readonly answer: CommandOutcome;
  };
  /** Ends what is held for a worker. */
  withdraw: {
    readonly question: { readonly hostId: HostId; readonly workerId: WorkerId };
    readonly answer: null;
  };
  /** In the order of the proofs. */
  renew: {
    readonly question: { readonly proofs: readonly AttemptProof[] };
    readonly answer: readonly LeaseRenewal['outcome'][];
  };
  /** `chunk`: the one that is to be written; null where it is none. */
  hold: {
    readonly question: {
      readonly proof: AttemptProof;
      readonly chunk: { readonly index: number; readonly bytes: number } | null;
    };
    readonly answer: HoldAnswer;
  };
}

export type OwnerVerb = keyof OwnerQuestions;
export type QuestionOf<Verb extends OwnerVerb> = OwnerQuestions[Verb]['question'];
export type AnswerOf<Verb extends OwnerVerb> = OwnerQuestions[Verb]['answer'];

/**
 * The answer of an owner. An owner that does not know stays silent: with two that hear a question the first answer
 * counts, and a former owner's refusal must not be faster than the owner's word.
 */
export type OwnerReply<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /**
   * `busy`: more waits than it can hold. `full`: the room that is left is kept for what was accepted. `stopped`: the endpoint's
   * log must be looked at by somebody first.
   */
  | { readonly kind: 'refused'; readonly reason: 'busy' | 'full' | 'stopped' };
