import type { HostId, JobKey } from '@berth/domain';

export interface StopSignal extends JobKey {
  readonly attempt: number;
  readonly token: string;
  /** For the worker's log: `cancelled`, `timed out`, `expired`. */
  readonly reason: string;
}

/** Hurries an agent to stop a job. A hint: the next renewal says the same. */
export interface StopSignals {
  send(hostId: HostId, signal: StopSignal): void;
}
