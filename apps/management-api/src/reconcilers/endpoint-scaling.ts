import {
  countWorkers,
  decideScale,
  type Demand,
  type EndpointId,
  type HostedWorker,
  type ScaleDecision,
  type ScaleMemory,
} from '@berth/domain';
import type { FleetEndpoint } from './fleet.store.js';

export interface ScalingView {
  readonly endpoint: FleetEndpoint;
  readonly demand: Demand | null;
  readonly workers: readonly HostedWorker[];
  readonly observingSinceMs: number;
}

/** Decides how many workers each endpoint should have, and remembers what the next decision needs. */
export class EndpointScaling {
  readonly #memories = new Map<EndpointId, ScaleMemory>();

  decide({ endpoint, demand, workers, observingSinceMs }: ScalingView, nowMs: number): ScaleDecision {
    const decision = decideScale(
      {
        scaling: endpoint.spec.scaling,
        range: endpoint.spec.workers,
        demand,
        workers: countWorkers(workers, observingSinceMs, nowMs),
        memory: this.#memories.get(endpoint.id) ?? null,
      },
      nowMs,
    );
    this.#memories.set(endpoint.id, decision.memory);
    return decision;
  }

  /** Memory is kept only for endpoints that are still looked at. */
  forgetOthers(present: ReadonlySet<EndpointId>): void {
    for (const id of this.#memories.keys()) if (!present.has(id)) this.#memories.delete(id);
  }
}
