import type {
  ChunkRequest,
  DoneReply,
  DoneRequest,
  DownloadReply,
  DownloadRequest,
  ProgressRequest,
  RenewReply,
  RenewRequest,
  ReportReply,
  StopMessage,
  TakeReply,
  TakeRequest,
  UploadRequest,
  WithdrawMessage,
} from '@berth/contracts';

/** Every question that an agent asks a router and that has one answer, and that. */
export interface JobCalls {
  readonly renew: readonly [RenewRequest, RenewReply];
  readonly chunk: readonly [ChunkRequest, ReportReply];
  readonly progress: readonly [ProgressRequest, ReportReply];
  readonly download: readonly [DownloadRequest, DownloadReply];
  readonly upload: readonly [UploadRequest, ReportReply];
}

/** Questions that list many things, each of which is answered as soon as it can be. */
export interface PartedCalls {
  readonly take: readonly [TakeRequest, TakeReply];
  readonly done: readonly [DoneRequest, DoneReply];
}

export interface RouterAskOptions {
  readonly timeoutMs: number;
  /** W3C trace context of the request that submitted the job; travels in the message's header. */
  readonly traceparent?: string | null;
}

export interface PartsOptions<Reply> {
  /** Until the last part. */
  readonly timeoutMs: number;
  /** Told of each part of the answer; true: it was the last. */
  readonly onPart: (reply: Reply) => boolean;
  /** Told of each part that comes after that, or after the rejection. */
  readonly onLate: (reply: Reply) => void;
}

/** The agent's way to the routers. */
export interface RouterLink {
  /**
   * Asks any one router. Rejects when none answered in time or the answer was an error; the request may have taken
   * effect all the same.
   */
  ask<Verb extends keyof JobCalls>(
    verb: Verb,
    request: JobCalls[Verb][0],
    options: RouterAskOptions,
  ): Promise<JobCalls[Verb][1]>;
  /** The same of a question that is answered in parts: resolves with the last of them. */
  askParts<Verb extends keyof PartedCalls>(
    verb: Verb,
    request: PartedCalls[Verb][0],
    options: PartsOptions<PartedCalls[Verb][1]>,
  ): Promise<void>;
  /** Tells every router, once; nobody answers. @throws when the connection is closed */
  withdraw(message: WithdrawMessage): void;
  /** Calls `listener` for every stop message of this host. Returns the function that ends it. */
  onStop(listener: (message: StopMessage) => void): () => void;
}
