import type { Demand, EndpointId } from '@berth/domain';

/** Router → controllers, core NATS, every two seconds whole and at once for what changed. */
export interface DemandMessage {
  readonly routerId: string;
  readonly sentAtMs: number;
  /**
   * True: what is not listed has no job, unless it follows at once in a message that is not complete: that is how a list
   * goes on that is too long for one.
   */
  readonly isComplete: boolean;
  readonly endpoints: readonly (Demand & { readonly endpointId: EndpointId })[];
}

export const demandSubject = (routerId: string): string => `demand.${routerId}`;
export const DEMAND_SUBJECTS = 'demand.*';

/** Demand older than this is unknown, which is not the same as none. */
export const DEMAND_STALE_MS = 10_000;

/**
 * Controllers → routers, an empty message after each look at the fleet: what the buckets say is as the control plane
 * sees it now, also where nothing has changed for long.
 */
export const CONTROL_PULSE_SUBJECT = 'control.pulse';

/** Management API → controllers: this endpoint (or `all`) has changed, look now. */
export const CONTROL_HINT_SUBJECT = 'control.changed';
