import type { WorkerPhase } from './worker.js';

/**
 * What can follow what, as one life of the agent goes through it; an agent that restarts begins with what it finds. The
 * control plane sees samples of it, so it may miss a phase in between.
 */
export const WORKER_PHASE_TRANSITIONS: Readonly<Record<WorkerPhase, readonly WorkerPhase[]>> = {
  preparing: ['starting', 'waiting', 'unhealthy', 'draining', 'removed'],
  starting: ['idle', 'busy', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
  idle: ['busy', 'paused', 'starting', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
  busy: ['idle', 'starting', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
  paused: ['idle', 'busy', 'starting', 'waiting', 'unhealthy', 'preparing', 'draining', 'removed'],
  draining: ['preparing', 'starting', 'waiting', 'unhealthy', 'removed'],
  waiting: ['preparing', 'starting', 'unhealthy', 'draining', 'removed'],
  unhealthy: ['idle', 'busy', 'starting', 'preparing', 'draining', 'removed'],
  removed: [],
};

export const WORKER_PHASES = Object.keys(WORKER_PHASE_TRANSITIONS) as readonly WorkerPhase[];
