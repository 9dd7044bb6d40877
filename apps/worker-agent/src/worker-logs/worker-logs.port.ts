import type { EndpointId, JobId, WorkerId } from '@berth/domain';

/** A worker as its log knows it. */
export interface LoggedWorker {
  readonly workerId: WorkerId;
  readonly endpointId: EndpointId;
  /** Null: not known, or not yet. */
  readonly accountId: string | null;
}

/** What is said of the workers of this host, and followed, for those who read their logs. No verb fails or waits, but `settle`. */
export interface WorkerLogs {
  /** The agent looks after this worker now. Repeating it is harmless. */
  open(worker: LoggedWorker): void;
  say(workerId: WorkerId, line: string): void;
  /** Its container has ended: said behind the last line that it printed, and once for each container. */
  sayEnded(workerId: WorkerId, line: string, containerId: string): void;
  /** What its container prints is kept from now on, until that ends. Repeating it is harmless. */
  follow(workerId: WorkerId, containerId: string): void;
  /** Resolves when what its ended container printed is kept, within seconds: then the container may go. */
  settle(workerId: WorkerId): Promise<void>;
  noteJobStart(workerId: WorkerId, jobId: JobId): void;
  noteJobEnd(workerId: WorkerId, jobId: JobId): void;
  /** Nothing more is to be said of it; its log is kept on for a while. */
  close(workerId: WorkerId): void;
}
