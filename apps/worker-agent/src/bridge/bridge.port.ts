import type { EndpointId, EndpointType, JobId, WorkerId } from '@berth/domain';

/** The largest body that the bridge keeps. */
export const BRIDGE_BODY_MAX_BYTES = 40 * 2 ** 20;

/** Bounds of the memory for bodies above 64 KiB, from their first byte until they are on the disk. */
export interface BodyBounds {
  /** At least `BRIDGE_BODY_MAX_BYTES` each. */
  readonly workerBytesMax: number;
  readonly hostBytesMax: number;
}

/** What the bridge must know of a worker to serve its calls; all that may rest on the disk. */
export interface WorkerAdmission {
  readonly workerId: WorkerId;
  readonly endpointId: EndpointId;
  readonly endpointType: EndpointType;
  /**
   * Proves the worker to the bridge; new for every start of a process or container. Printable ASCII without spaces, at
   * least 20 unguessable characters (`random.id(40)`). Keep it in `journal.workers` until the worker is gone: a
   * re-adopted worker still has it in its environment.
   */
  readonly token: string;
}

/** What the bridge must know of a worker before its process starts. */
export interface WorkerRegistration extends WorkerAdmission {
  readonly facts: WorkerFacts;
}

/** The last lines that a worker wrote, oldest first, bounded and without control characters. Never rejects. */
export type ReadLogTail = (workerId: WorkerId) => Promise<readonly string[]>;

/** What the worker is told of itself. */
export interface WorkerFacts {
  /** GPU type id of the catalog, or null for a CPU worker. */
  readonly gpuTypeId: string | null;
  readonly gpuCount: number;
  /** Pool that the GPU type belongs to, or null. */
  readonly gpuPool: string | null;
  readonly vcpus: number;
  readonly memoryBytes: number;
  readonly dataCenterId: string;
  /** Set when a network volume is mounted. */
  readonly volumeId: string | null;
  /** The tenant's own variables. Names that carry the worker's identity or its calls are replaced by ours. */
  readonly env: Readonly<Record<string, string>>;
}

/** Why a worker is no longer there. */
export interface WorkerDeparture {
  /** For people: it stands in the job's history, as `worker exited with code 137: out of memory`. */
  readonly reason: string;
  /**
   * True when worker, container or host failed by themselves: their unfinished jobs pay an attempt. False when we took
   * the worker away (drain, rollout, scale down, kill that the bridge asked for): nobody's job pays.
   */
  readonly isFault: boolean;
}

/** `starting`: has not asked for a job yet. */
type BridgePhase = 'starting' | 'idle' | 'busy' | 'draining';

/** A worker as its calls show it. Instants are Unix milliseconds. */
export interface BridgeWorkerState {
  readonly phase: BridgePhase;
  /** Jobs delivered to it and not ended. */
  readonly runningJobs: number;
  /** Latest instant at which one of the running jobs must have ended; null without any. A drain waits for it. */
  readonly latestDeadlineAtMs: number | null;
  /** When the last of its jobs ended since it was registered or restored, however it ended; null: it has had none. */
  readonly lastJobEndedAtMs: number | null;
  readonly hasPolled: boolean;
  /** True once any call of it has come since it was registered or restored: it can reach the bridge. */
  readonly hasCalled: boolean;
  /** Since when it has neither had a job nor asked for one; null while it has a job or asks. Pings say nothing of that. */
  readonly notAskingSinceMs: number | null;
  /** From its pings; null until one told it. */
  readonly sdkVersion: string | null;
  readonly lastPingAtMs: number | null;
  /** Why it must be replaced once it is idle (`stopPod`, unhealthy ping), or null. */
  readonly wantsRecycle: string | null;
}

export type BridgeEvent =
  /** It has asked for a job for the first time: it is ready. */
  | { readonly kind: 'first-poll'; readonly workerId: WorkerId }
  | { readonly kind: 'job-started'; readonly workerId: WorkerId; readonly jobId: JobId; readonly attempt: number }
  | {
      readonly kind: 'job-ended';
      readonly workerId: WorkerId;
      readonly jobId: JobId;
      readonly attempt: number;
      readonly outcome: 'completed' | 'failed' | 'timed-out' | 'stopped' | 'lost';
    }
  /**
   * The worker asked to be replaced (`stopPod`), its own checks failed, or it stopped answering: drain it when it has
   * jobs left, stop it, and start it anew.
   */
  | { readonly kind: 'recycle-wanted'; readonly workerId: WorkerId; readonly reason: string }
  /**
   * A job has not let go 10 s after its stop: kill the process or container now, then `unregister`. Repeated every 5 s
   * until that happens. Jobs beside it are given back uncharged, whatever `unregister` says.
   */
  | { readonly kind: 'kill-needed'; readonly workerId: WorkerId; readonly reason: string };

/** The HTTP side of every worker on this host, as the rest of the agent sees it. */
export interface Bridge {
  /** Port that workers reach; known once the listener is open. */
  readonly port: number;
  /** Host and port that a worker which is started now is told. One that was told another may not get through. */
  readonly address: string;

  /**
   * Ends the silence after a start: registers the workers whose containers are there, with the tokens they have, takes
   * their attempts up again, and gives back the attempts of all others. Until then every call of a worker waits. Call it once,
   * with an empty list where nothing runs.
   */
  restore(workers: readonly WorkerAdmission[]): Promise<void>;

  /**
   * Admits a worker and returns its whole environment (wire contract 1.15), the tenant's variables included. An earlier
   * registration of the same worker must have been unregistered; repeating one with the same token is harmless.
   */
  registerWorker(registration: WorkerRegistration): Readonly<Record<string, string>>;

  /**
   * No new job from now on. Resolves when every parked poll has been answered with 204, which is when the process may
   * get SIGTERM (wire contract 1.11). Repeating it is harmless; an unknown worker is success.
   */
  beginDrain(workerId: WorkerId): Promise<void>;

  /**
   * Its process has got SIGTERM. What it parked before it heard of that is answered soon, so that one without a job leaves
   * at once: workers wait for their polls first (wire contract 1.11). An unknown worker is success.
   */
  noteAskedToEnd(workerId: WorkerId): void;

  /**
   * No job for now, until `openPolls`. Resolves when every parked poll has been answered with 204, which is when the
   * container may be frozen: a job that was given out before is held by then (`runningJobs`), and one that comes later is
   * given back. Repeating it answers what has been parked since; an unknown worker is success.
   */
  holdPolls(workerId: WorkerId): Promise<void>;

  /** Jobs go to polls again: to those that came after the last `holdPolls`. None of a worker that drains. */
  openPolls(workerId: WorkerId): void;

  /**
   * Forgets a worker whose process is gone and gives its unfinished jobs back. Resolves once that is on disk; telling
   * the router goes on by itself. An unknown worker is success.
   */
  unregister(workerId: WorkerId, departure: WorkerDeparture): Promise<void>;

  /** Null when the worker is not registered. */
  state(workerId: WorkerId): BridgeWorkerState | null;

  /** Listeners are called in order and must not throw. Returns the function that ends it. */
  subscribe(listener: (event: BridgeEvent) => void): () => void;
}
