import type { HostId, JobKey } from '@berth/domain';

/** One attempt's lease: while it lives, the job is its holder's. */
export interface LeaseKey extends JobKey {
  readonly attempt: number;
}

export interface Lease {
  readonly token: string;
  readonly hostId: HostId;
}

export type LeaseState =
  | { readonly kind: 'live'; readonly lease: Lease; readonly sequence: number }
  /** The broker's own word that the lease ran out. */
  | { readonly kind: 'expired'; readonly sequence: number }
  /** Not renewed yet, removed, or lost with a broker's memory: proves nothing. */
  | { readonly kind: 'missing' };

export interface Leases {
  read(key: LeaseKey): Promise<LeaseState>;
  /**
   * Writes the lease for `LEASE_MS` more, over exactly the version named (0: over nothing).
   * Returns the new sequence, or null when another version is there or the outcome is unknown.
   */
  write(key: LeaseKey, lease: Lease, expectedSequence: number): Promise<number | null>;
  /** Absent is success. */
  remove(key: LeaseKey): Promise<void>;
}

/** Life of a lease without renewal, and how often an agent renews (design, "Order of writes"). */
export const LEASE_MS = 30_000;
export const RENEW_INTERVAL_MS = 10_000;
/** No holder renews sooner after a take or a renewal. A lease that is there all the same runs out by itself. */
export const RENEW_EARLIEST_MS = 5_000;
/** After the last renewal that was acknowledged, counted from its sending, the agent stops the job by itself. */
export const LEASE_TRUST_MS = 25_000;
