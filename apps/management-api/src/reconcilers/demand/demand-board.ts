import {
  DEMAND_STALE_MS,
  toldDemands,
  witnessedDemand,
  type DemandMessage,
  type WitnessMessage,
} from '@berth/contracts';
import { ToldDemands, type Demand, type EndpointId, type EndpointType, type HostId } from '@berth/domain';
import { logShard } from '@berth/messaging';

interface BoardQuestion {
  readonly id: EndpointId;
  readonly type: EndpointType;
  /** How many requests each host that has workers of it can have: it is believed no more, and no other host anything. */
  readonly rooms: ReadonlyMap<HostId, number>;
}

/** The latest demand that the routers published, each for the shards that it owns, and that witnesses did. */
export class DemandBoard {
  readonly #demands = new ToldDemands(DEMAND_STALE_MS);

  take(message: DemandMessage | WitnessMessage, heardAtMs: number): void {
    const told = 'witness' in message ? [witnessedDemand(message)] : toldDemands(message, logShard);
    for (const each of told) this.#demands.hear(each, heardAtMs);
  }

  /** Null: unknown, which is not the same as none. */
  demandOf({ id, rooms, type }: BoardQuestion, nowMs: number): Demand | null {
    return this.#demands.demandOf({ endpointId: id, shard: logShard(id), type, rooms }, nowMs);
  }

  endpointIds(nowMs: number): readonly EndpointId[] {
    return this.#demands.endpointIds(nowMs);
  }
}
