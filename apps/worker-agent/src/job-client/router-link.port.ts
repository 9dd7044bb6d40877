import type {
  ChunkRequest,
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

/** Every question that an agent asks a router, and its answer. */
export interface JobCalls {
  readonly take: readonly [TakeRequest, TakeReply];
  readonly renew: readonly [RenewRequest, RenewReply];
  readonly chunk: readonly [ChunkRequest, ReportReply];
  readonly progress: readonly [ProgressRequest, ReportReply];
  readonly download: readonly [DownloadRequest, DownloadReply];
  readonly upload: readonly [UploadRequest, ReportReply];
  readonly done: readonly [DoneRequest, ReportReply];
}

export interface AskOptions {
  readonly timeoutMs: number;
  /** W3C trace context of the request that submitted the job; travels in the message's header. */
  readonly traceparent?: string | null;
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
    options: AskOptions,
  ): Promise<JobCalls[Verb][1]>;
  /** Tells every router, once; nobody answers. @throws when the connection is closed */
  withdraw(message: WithdrawMessage): void;
  /** Calls `listener` for every stop message of this host. Returns the function that ends it. */
  onStop(listener: (message: StopMessage) => void): () => void;
}
