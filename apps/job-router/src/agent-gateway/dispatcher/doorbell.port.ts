import type { EndpointId } from '@berth/domain';

/** Rings when a ticket was put. A hint: rings may be lost, and the queue is also polled. */
export abstract class Doorbell {
  /** Calls `onRing` for each new ticket of the endpoint until the returned function is called. */
  abstract listen(endpointId: EndpointId, onRing: () => void): () => void;
}
