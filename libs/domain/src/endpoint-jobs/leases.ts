import { HEARING_MS, ATTEMPT_LEASE_MS, STARTED_AFTER_MS } from './bounds.js';
import type { AttemptProof } from './commands.js';
import { findHeld } from './decide/decide-holder.js';
import type { StartedFact } from './facts.js';
import type { EndpointState } from './state.js';

export interface LeaseRenewal {
  /** `lost`: the attempt is over, and its host must stop it. */
  readonly outcome: 'renewed' | 'lost';
  /** To be applied and committed like any fact; null where there is none. */
  readonly fact: StartedFact | null;
}

/**
 * Prolongs the lease of an attempt. A lease is the owner's memory and in no fact, so this changes the state at once; what
 * becomes of it when the owner dies is a full lease from the next one. A renewal a while after the take tells that the
 * worker has started.
 */
export function renewLease(state: EndpointState, proof: AttemptProof, atMs: number): LeaseRenewal {
  const job = state.isDeleted ? null : findHeld(state, proof);
  const current = job?.data.current;
  if (job === null || current == null || job.data.expiresAtMs <= atMs) return { outcome: 'lost', fact: null };
  job.leaseUntilMs = Math.max(job.leaseUntilMs, atMs + ATTEMPT_LEASE_MS);
  state.running.put(job);
  const hasStarted = !current.isStarted && atMs - current.startedAtMs >= STARTED_AFTER_MS;
  const { attempt, jobId } = proof;
  return { outcome: 'renewed', fact: hasStarted ? { kind: 'started', atMs, jobId, attempt } : null };
}

/** The owner does not know when the holders renewed last, so each gets a full lease. */
export function leaseAnew(state: EndpointState, atMs: number): void {
  for (const job of [...state.running.values()]) {
    job.leaseUntilMs = atMs + ATTEMPT_LEASE_MS;
    state.running.put(job);
  }
}

/** The owner stood still, or was cut off: hosts get time to say what they hold before any lease ends. */
export function hearHosts(state: EndpointState, atMs: number): void {
  for (const job of [...state.running.values()]) {
    job.leaseUntilMs = Math.max(job.leaseUntilMs, atMs + HEARING_MS);
    state.running.put(job);
  }
}
