import type { EndpointSpec } from './endpoint.js';

/** How many requests each worker takes at a time, where the endpoint's settings say it; null: they do not. */
export const workerSlots = ({ scaling, type }: Pick<EndpointSpec, 'scaling' | 'type'>): number | null =>
  type === 'LOAD_BALANCER' && scaling.type === 'REQUEST_COUNT' ? scaling.requestCount : null;
