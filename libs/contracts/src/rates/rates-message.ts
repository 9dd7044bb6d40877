import type { EndpointId, JobOperation } from '@berth/domain';

/** The counts of a router for one operation of one endpoint. */
export interface RateNews {
  readonly endpointId: EndpointId;
  readonly operation: JobOperation;
  /** Admitted since it was told last. */
  readonly admitted: number;
  /** In flight now. */
  readonly inFlight: number;
}

/**
 * Router → routers, core NATS: what it admits, so that all count together. Also sent empty, as a sign of life. A lost
 * count is not told again, but for requests in flight.
 */
export interface RatesMessage {
  readonly routerId: string;
  readonly news: readonly RateNews[];
}

export const ratesSubject = (routerId: string): string => `rates.${routerId}`;
export const RATES_SUBJECTS = 'rates.*';
