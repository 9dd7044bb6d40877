import type { Demand, EndpointId } from '@berth/domain';

/** An endpoint as it is when it is asked. */
interface Demanding {
  /** Null: it is not known. */
  readonly demand: Demand | null;
}

interface Shard {
  /** Those that had any when they were looked at last. */
  readonly demanding: Map<EndpointId, Demanding>;
  /** Those that have not been looked at since something happened there. */
  readonly changed: Map<EndpointId, Demanding>;
}

type Demands = Map<EndpointId, Demand | null>;

/**
 * Where in the shards of one router there is any demand, and of what of it nobody has been told. Noting a change costs next to
 * nothing, since it comes with every batch; endpoints are looked at when somebody asks, and those without demand only once.
 */
export class DemandLedger {
  readonly #shards = new Map<number, Shard>();

  note(shard: number, endpointId: EndpointId, endpoint: Demanding): void {
    let known = this.#shards.get(shard);
    if (known === undefined) {
      known = { demanding: new Map(), changed: new Map() };
      this.#shards.set(shard, known);
    }
    known.changed.set(endpointId, endpoint);
  }

  /** The shard is not asked about any more. */
  drop(shard: number): void {
    this.#shards.delete(shard);
  }

  /** Of each endpoint whose demand is known; one that was looked at and had none is left out. */
  demands(): ReadonlyMap<EndpointId, Demand> {
    const demands = new Map<EndpointId, Demand>();
    for (const { changed, demanding } of this.#shards.values()) {
      for (const [endpointId, { demand }] of [...demanding, ...changed]) {
        if (demand !== null) demands.set(endpointId, demand);
      }
    }
    return demands;
  }

  /** @param max endpoints; the rest is left for the next call */
  takeChanged(shard: number, max: number): Demands {
    const demands: Demands = new Map();
    const known = this.#shards.get(shard);
    if (known === undefined) return demands;
    for (const [endpointId, endpoint] of known.changed) {
      if (demands.size >= max) break;
      known.changed.delete(endpointId);
      const { demand } = endpoint;
      demands.set(endpointId, demand);
      if (hasAny(demand)) known.demanding.set(endpointId, endpoint);
      else known.demanding.delete(endpointId);
    }
    return demands;
  }

  takeAll(shard: number): Demands {
    const known = this.#shards.get(shard);
    if (known === undefined) return new Map();
    for (const [endpointId, endpoint] of known.changed) known.demanding.set(endpointId, endpoint);
    known.changed.clear();
    const demands: Demands = new Map();
    for (const [endpointId, endpoint] of known.demanding) {
      const { demand } = endpoint;
      if (hasAny(demand)) demands.set(endpointId, demand);
      else known.demanding.delete(endpointId);
    }
    return demands;
  }
}

/** Unknown demand counts as some. Jobs that ended within the last minute do, too: they tell how fast others will. */
const hasAny = (demand: Demand | null): boolean =>
  demand === null || demand.queuedNormal + demand.queuedLow + demand.running + demand.endedLastMinute > 0;
