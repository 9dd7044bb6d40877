import { DEMAND_STALE_MS, toldDemands, type DemandMessage } from '@berth/contracts';
import { ShardDemands, type Demand, type EndpointId } from '@berth/domain';
import { logShard } from '@berth/messaging';

/** The latest demand that the routers published, each for the shards that it owns. */
export class DemandBoard {
  readonly #owners = new ShardDemands(DEMAND_STALE_MS);

  take(message: DemandMessage, heardAtMs: number): void {
    for (const told of toldDemands(message, logShard)) this.#owners.hear(told, heardAtMs);
  }

  /** Null: unknown, which is not the same as none. */
  demandOf(endpointId: EndpointId, nowMs: number): Demand | null {
    return this.#owners.demandOf(endpointId, logShard(endpointId), nowMs);
  }

  endpointIds(nowMs: number): readonly EndpointId[] {
    return this.#owners.endpointIds(nowMs);
  }
}
