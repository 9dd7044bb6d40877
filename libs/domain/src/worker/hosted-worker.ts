import { isHostLost, type Host } from '../host/index.js';
import type { Worker } from './worker.js';

/** A worker beside what is known of its host. */
export interface HostedWorker {
  readonly worker: Worker;
  /** Null when the host was removed. */
  readonly host: (Pick<Host, 'intent' | 'lastSeenAtMs'> & Partial<Pick<Host, 'inventory'>>) | null;
}

export type GoneReason = 'removed' | 'host-removed' | 'host-lost';

/**
 * Why the worker need not be counted any more, or null while it is there.
 *
 * @param observingSinceMs since when heartbeats have been received without a break
 */
export function goneReason({ worker, host }: HostedWorker, observingSinceMs: number, nowMs: number): GoneReason | null {
  if (worker.observed?.phase === 'removed') return 'removed';
  if (host === null) return 'host-removed';
  return isHostLost(host, observingSinceMs, nowMs) ? 'host-lost' : null;
}
