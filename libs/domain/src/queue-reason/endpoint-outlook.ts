import type { WorkerId } from '../ids.js';

/** How far a worker that takes no job yet has come. */
export type ComingStage =
  | 'initialising' // its container runs and has not asked for a job yet
  | 'starting' // its container is being started
  | 'preparing' // its image is pulled, its folder set up
  | 'placed' // its host has not reported it yet
  | 'replaced' // its last container ends, another follows
  | 'delayed' // the time between two starts after a failed one
  | 'unhealthy'; // failed so often that nobody should wait for it

/**
 * Why a job waits where its endpoint has only workers that are on their way. `throttled`: its host has no room for it. A
 * delay between two starts is told by the stage: routers of older versions know no word for it.
 */
export type ComingReason = 'worker-starting' | 'throttled' | 'image-error';

/** A worker that is placed and takes no job yet. */
export interface ComingWorker {
  readonly id: WorkerId;
  readonly stage: ComingStage;
  readonly reason: ComingReason;
  /** The words of its agent: a sentence without its full stop. */
  readonly detail: string;
  /** The instant before which it is not started again; null where nothing delays it. */
  readonly nextStartAtMs: number | null;
  /** Since when the reason is the same. */
  readonly sinceMs: number;
  /** When this was said; what has changed a moment later may not be told at once. */
  readonly toldAtMs: number;
}

/** Workers that are wanted and have no place. */
export interface UnplacedWorkers {
  readonly count: number;
  /** The lack of the host that came nearest, in the words of placement. */
  readonly reason: string;
  readonly detail: string;
  readonly sinceMs: number;
  /** Which filter rejected each host; the first few. */
  readonly hosts: readonly { readonly id: string; readonly reason: string; readonly detail: string }[];
}

/** The control plane's expectation of one endpoint's workers: all that a job needs to say why it waits. */
export interface EndpointOutlook {
  readonly desired: number;
  /** The reason of the scaling decision, and since when it is the same. */
  readonly scaling: { readonly reason: string; readonly sinceMs: number };
  /** Nearest to its first job first; the first few. */
  readonly coming: readonly ComingWorker[];
  /** Null while every wanted worker has a place. */
  readonly unplaced: UnplacedWorkers | null;
  /** Absent while the latest release comes up, and where the writer is of a version that did not say it. */
  readonly crashLoop?: CrashLoop;
}

/** The latest release does not come up: one worker goes on trying, and no other is made. */
interface CrashLoop {
  /** A sentence without its full stop, with what failed last. */
  readonly detail: string;
  readonly sinceMs: number;
}

/** An outlook is read with every change of a worker, so it stays small whatever there is to say. */
export const OUTLOOK_WORKERS_MAX = 5;
export const OUTLOOK_HOSTS_MAX = 8;
export const OUTLOOK_TEXT_MAX = 300;
