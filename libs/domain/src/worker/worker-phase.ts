import type { WorkerPhase } from './worker.js';

/** Wire words of the management API for what a worker does (wire contract 5.2). */
export type WorkerStatus = 'RUNNING' | 'IDLE' | 'INITIALIZING' | 'THROTTLED' | 'UNHEALTHY';

/** What a worker in a phase is to a job that waits. `coming`: it takes none yet. */
export type WorkerUse = 'idle' | 'busy' | 'coming' | 'unhealthy';

interface PhaseRow {
  /**
   * What can follow, as one life of the agent goes through it; an agent that restarts begins with what it finds. The
   * control plane sees samples of it, so it may miss a phase in between.
   */
  readonly followedBy: readonly WorkerPhase[];
  /** What its tenant sees. `THROTTLED` is no phase: no host has room for such a worker, or its own has not (`workerStatus`). */
  readonly status: WorkerStatus;
  /** Null: nothing is left of it. */
  readonly use: WorkerUse | null;
  /** Its container has come up: it has asked for a job. */
  readonly isUp: boolean;
  /** The order in which workers leave when there are too many: what serves nobody, then what is not warm; null: nobody for that. */
  readonly leavesAt: number | null;
}

/** The life of a worker, in one table: all else that goes by the phase is taken from here. */
export const WORKER_LIFECYCLE: Readonly<Record<WorkerPhase, PhaseRow>> = {
  preparing: {
    followedBy: ['starting', 'waiting', 'unhealthy', 'draining', 'removed'],
    ...{ status: 'INITIALIZING', use: 'coming', isUp: false, leavesAt: 2 },
  },
  starting: {
    followedBy: ['idle', 'busy', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
    ...{ status: 'INITIALIZING', use: 'coming', isUp: false, leavesAt: 2 },
  },
  idle: {
    followedBy: ['busy', 'paused', 'starting', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
    ...{ status: 'IDLE', use: 'idle', isUp: true, leavesAt: 4 },
  },
  busy: {
    followedBy: ['idle', 'starting', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
    ...{ status: 'RUNNING', use: 'busy', isUp: true, leavesAt: null },
  },
  paused: {
    followedBy: ['idle', 'busy', 'starting', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
    // It goes on as soon as the control plane has heard of a job.
    ...{ status: 'IDLE', use: 'coming', isUp: true, leavesAt: 3 },
  },
  draining: {
    followedBy: ['preparing', 'starting', 'waiting', 'unhealthy', 'removed'],
    // One that is to stay and drains is being replaced.
    ...{ status: 'RUNNING', use: 'coming', isUp: false, leavesAt: null },
  },
  waiting: {
    followedBy: ['preparing', 'starting', 'unhealthy', 'draining', 'removed'],
    ...{ status: 'INITIALIZING', use: 'coming', isUp: false, leavesAt: 1 },
  },
  unhealthy: {
    followedBy: ['idle', 'busy', 'starting', 'preparing', 'draining', 'removed'],
    ...{ status: 'UNHEALTHY', use: 'unhealthy', isUp: false, leavesAt: 0 },
  },
  removed: { followedBy: [], status: 'IDLE', use: null, isUp: false, leavesAt: null },
};

export const WORKER_PHASES = Object.keys(WORKER_LIFECYCLE) as readonly WorkerPhase[];
