import type { AccountLimits } from '../account-limits/index.js';
import type { Endpoint } from '../endpoint/index.js';
import type { Host } from '../host/index.js';
import type { AccountId, EndpointId, HostId } from '../ids.js';
import type { PlaceableVolume } from '../placement/index.js';
import type { ReleaseStarts, Worker } from '../worker/index.js';

/** A worker that is wanted and could not be placed: why, since when, and what spoke against each host. */
export interface WaitingWorker {
  readonly reason: string;
  readonly detail: string;
  /** ISO 8601. */
  readonly since: string;
  readonly hosts: readonly { readonly id: string; readonly reason: string }[];
}

/** A scaling decision as it is kept. */
export interface ScalingRecord {
  readonly endpointId: EndpointId;
  readonly desired: number;
  readonly reason: string;
  readonly detail: string;
  readonly waiting: readonly WaitingWorker[];
  /** How many workers are wanted and have no place: `waiting` has the first of them. */
  readonly unplaced: number;
  /** How the workers of the latest release start; null: nothing is known yet. */
  readonly starts: ReleaseStarts | null;
  /** Since when it has been the decision. */
  readonly decidedAtMs: number;
}

/** An endpoint as the control loops see it. */
export interface FleetEndpoint extends Endpoint {
  /** Null while the endpoint exists. */
  readonly deletedAtMs: number | null;
  /** As last written; null before the first. */
  readonly lastDecision: ScalingRecord | null;
  /** Where its network volumes lie, without repeats, in the order in which the endpoint names them. */
  readonly volumeDataCenterIds: readonly string[];
  /** They themselves, in its own order; absent: it has none. */
  readonly volumes?: readonly PlaceableVolume[];
}

/** All that the control loops decide on, as it was at one instant. */
export interface Fleet {
  readonly endpoints: readonly FleetEndpoint[];
  readonly hosts: ReadonlyMap<HostId, Host>;
  readonly workers: readonly Worker[];
  /** Of the accounts of these endpoints; who is absent has the defaults. */
  readonly accountLimits: ReadonlyMap<AccountId, AccountLimits>;
}
