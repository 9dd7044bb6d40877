import type { EndpointType, Scaling, WorkerRange } from './endpoint.js';

/** Values of fields that a create leaves out (API decisions 3.1). */
export const ENDPOINT_DEFAULTS = {
  workersMin: 0,
  workersMax: 3,
  idleTimeoutSeconds: 10,
  /** Per job, in ms. */
  executionTimeoutMs: 300_000,
  flashboot: 'OFF',
  gpuCount: 1,
  /** Of load-balanced workers, where `env` does not say otherwise. */
  port: 80,
  healthCheckPath: '/ping',
  loadBalancer: { isPublic: false, allowsPreflights: false },
} as const;

/** False for the one combination that has no idle timeout: a queue that scales on its request count. */
export const hasIdleTimeout = (type: EndpointType, scaling: Scaling): boolean =>
  !(type === 'QUEUE' && scaling.type === 'REQUEST_COUNT');

/**
 * The full worker range: what was said, over what was stored, over the defaults. A change of the scaler drops or brings
 * back the idle timeout.
 *
 * @param said fields of the request; for an update, laid over the stored ones by the caller
 */
export function resolveWorkerRange(
  routing: { readonly type: EndpointType; readonly scaling: Scaling },
  said: { readonly min?: number; readonly max?: number; readonly idleTimeoutSeconds?: number | null },
): WorkerRange {
  return {
    min: said.min ?? ENDPOINT_DEFAULTS.workersMin,
    max: said.max ?? ENDPOINT_DEFAULTS.workersMax,
    idleTimeoutSeconds: hasIdleTimeout(routing.type, routing.scaling)
      ? (said.idleTimeoutSeconds ?? ENDPOINT_DEFAULTS.idleTimeoutSeconds)
      : null,
  };
}
