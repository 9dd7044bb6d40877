import type { EndpointId } from '../../ids.js';

/** What decides whether a load-balanced worker takes one request more. */
export interface AdmissionView {
  readonly endpointId: EndpointId;
  /** How many requests it takes at a time. */
  readonly slots: number;
  /** Requests that it has, those that are being connected included. */
  readonly inFlight: number;
  /** Its container runs, stands not still, and is not about to. */
  readonly isAwake: boolean;
  /** It gets nothing new any more, and then goes. */
  readonly isLeaving: boolean;
  /** Its last health checks were good. */
  readonly isHealthy: boolean;
}

/** Why a request is not taken. The first that applies is said. */
type AdmissionRefusal = 'unknown-worker' | 'leaving' | 'unready' | 'full';

/**
 * Whether a worker takes a request of an endpoint; null: it does. The caller counts the request before it asks again.
 *
 * @param view null: the host has no such worker
 */
export function admitRequest(view: AdmissionView | null, endpointId: EndpointId): AdmissionRefusal | null {
  if (view === null || view.endpointId !== endpointId) return 'unknown-worker';
  if (view.isLeaving) return 'leaving';
  if (!view.isAwake || !view.isHealthy) return 'unready';
  return view.inFlight < view.slots ? null : 'full';
}
