import type { LinkTarget } from './worker-link.port.js';

/** The attributes of steps of a request to a load-balanced worker. Router and host say the same. */
export const requestAttributes = ({ endpointId, hostId, workerId }: LinkTarget) => ({
  'berth.endpoint.id': endpointId,
  'berth.host.id': hostId,
  'berth.worker.id': workerId,
});
