import type { WorkerPorts } from '../endpoint/index.js';
import type { EndpointId, HostId, WorkerId } from '../ids.js';

/**
 * What a worker is doing. Only the agent of its host writes it.
 * `waiting` is the time between two starts of a worker that keeps failing.
 */
export type WorkerPhase =
  | 'preparing' // image pulled, folder set up
  | 'starting' // process or container runs, has not asked for a job yet
  | 'idle'
  | 'busy'
  | 'paused' // frozen for want of jobs, with all that it holds
  | 'draining'
  | 'waiting'
  | 'unhealthy'
  | 'removed';

/**
 * What the control plane wants of a worker. `paused`: there, but frozen once it is idle; one that has no container yet, or
 * no longer, is gone. `drained`: no new job, then gone.
 */
export type WorkerIntent = 'running' | 'paused' | 'drained';

/** What failed last: having the image (or folder), or the container that was made of it. */
export type StartFailure = 'image' | 'container';

/** Longest reason of an observation: the exit and the last output of a crash with room to spare. */
export const WORKER_REASON_CHARACTERS_MAX = 2_000;

/** The ports are absent of a worker that listens for nothing, and where its agent has not said, or does not know. */
export interface ObservedWorker extends Partial<WorkerPorts> {
  readonly workerId: WorkerId;
  readonly endpointId: EndpointId;
  readonly release: number;
  readonly phase: WorkerPhase;
  /** Why it is in this phase, for people: clean text, empty when there is nothing to say. */
  readonly reason: string;
  readonly runningJobs: number;
  /** Failed starts in a row. */
  readonly failedStarts: number;
  readonly phaseSinceMs: number;
  /** First instant at which the present process or container ran. */
  readonly startedAtMs: number | null;
  /** Catalog id of the GPUs given to it, or null. */
  readonly gpuTypeId: string | null;
  /** What its image's name stood for when it was started, `sha256:…`; absent where no registry gave it, or not known. */
  readonly imageDigest?: string;
  /** How much of the image has been pulled, 0 to 100; absent while that is not known. */
  readonly imagePercent?: number;
  /** Of the last start that failed; absent when none has. */
  readonly failure?: StartFailure;
  /** It is not there because its host has no room for it, or was taken from it; absent: it is not that. */
  readonly lacksRoom?: boolean;
  /** The instant before which it is not started again; absent while nothing delays it. */
  readonly nextStartAtMs?: number;
  /**
   * When its last job ended, on its host's clock and rounded up to a second; absent while it has one, and where it has
   * had none. It names the end: whose instant it is elsewhere, `idleSinceMs` says.
   */
  readonly lastJobEndedAtMs?: number;
  /** The same end on the control plane's clock, written where the report is taken. */
  readonly idleSinceMs?: number;
  /** What of its wish its host does not keep, such as a disk limit, one sentence each; absent when all is kept. */
  readonly notes?: readonly string[];
}

/** A worker as the control plane knows it: its own intent beside the agent's observation. */
export interface Worker {
  readonly id: WorkerId;
  readonly endpointId: EndpointId;
  readonly hostId: HostId;
  readonly release: number;
  readonly intent: WorkerIntent;
  readonly createdAtMs: number;
  readonly resources: WorkerResources;
  readonly observed: ObservedWorker | null;
  /**
   * Of a worker that is to leave, or to be paused, for want of jobs: how long after its last one; absent: at once.
   */
  readonly leavesAfterIdleMs?: number;
  /** Hosts on which workers that it stands for failed so often that they were moved; absent: none. */
  readonly failedOn?: readonly HostId[];
  /** Why it stays on a host where it fails again and again: a sentence without its full stop; absent: it does not. */
  readonly staysBecause?: string;
  /** The network volume that it has for as long as it is there; absent: none. */
  readonly volumeId?: string;
  /** How often somebody asked for its restart; absent: never. */
  readonly restarts?: number;
}

/** What a worker takes from its host. */
export interface WorkerResources {
  readonly vcpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly gpuTypeId: string | null;
  readonly gpuCount: number;
}
