import type { Duplex } from 'node:stream';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';

/** Whom a request is for. Workers of several hosts may never share an id; the endpoint guards against a stale directory. */
export interface LinkTarget {
  readonly hostId: HostId;
  readonly endpointId: EndpointId;
  readonly workerId: WorkerId;
}

/**
 * Why no byte has reached the worker, so that the request may go to another one.
 *
 * `full`: it has as many requests as it takes. `leaving`: it is draining, or its agent is. `unready`: it is not up, or its
 * health checks fail. `unknown-worker`: its host has no such worker. `unreachable`: it did not take the connection.
 * `no-way`: there is no tunnel to its host, or it broke before the answer. `timed-out`: nobody answered in time.
 */
export const LINK_REFUSALS = [
  'full',
  'leaving',
  'unready',
  'unknown-worker',
  'unreachable',
  'no-way',
  'timed-out',
] as const;
export type LinkRefusal = (typeof LINK_REFUSALS)[number];

export interface LinkStream extends Duplex {
  /**
   * Tells the worker's host which recorded step of a trace the request is, for a step of its own below. To be called once,
   * before the first byte. Absent: nobody is on the way who could be told. A host that does not understand it hears nothing.
   */
  tellTrace?(traceparent: string): void;
}

/**
 * The stream carries bytes to the worker's port and back, unchanged, with back pressure and half-close both ways. The
 * request counts as in flight at its host until the stream has closed; destroying it at either end destroys it at the
 * other, and the worker's connection with it. Where the tunnel breaks, the stream fails with a `TunnelError`.
 */
export type LinkAnswer =
  | { readonly kind: 'admitted'; readonly stream: LinkStream }
  | { readonly kind: 'refused'; readonly reason: LinkRefusal };

/** How a place is asked for. */
export interface LinkWish {
  /** Where the worker is full, its agent may keep the question in line for a moment, one of each asker. Absent: no. */
  readonly mayWait?: boolean;
  /** One that has a share of each worker. Absent: the process itself that has this way. */
  readonly asker?: object;
}

/** The way to workers. All implementations pass `workerLinkConformance`. */
export interface WorkerLink {
  /**
   * Asks the worker's agent for a place, and connects to the worker. Never rejects: whoever gives up aborts the signal and
   * gets `timed-out`, and a place that comes after that is given back.
   */
  open(target: LinkTarget, signal: AbortSignal, wish?: LinkWish): Promise<LinkAnswer>;
}
