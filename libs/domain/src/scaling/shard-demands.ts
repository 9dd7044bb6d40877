import type { EndpointId } from '../ids.js';
import { NO_DEMAND, type Demand } from './demand.js';

/** What the owner of a shard of endpoints knows of their jobs. */
export interface OwnedDemand {
  readonly shard: number;
  /** Of its claim. Terms rise with every change of the owner, and no two have one at the same time. */
  readonly term: number;
  /** Null: it is not known, as of an endpoint whose log cannot be read. */
  readonly demands: ReadonlyMap<EndpointId, Demand | null>;
}

/** A piece of what an owner tells. The words of one owner arrive in the order in which it says them, or not at all. */
export interface ToldDemand extends OwnedDemand {
  /**
   * Which part it is, from 0, of a list of all endpoints in the shard that have any demand, or of which it is not known.
   * Null: it names what has changed.
   */
  readonly part: { readonly index: number; readonly count: number } | null;
}

/** A list of which not every part has been heard. */
interface Listing {
  readonly beganAtMs: number;
  readonly count: number;
  readonly named: Set<EndpointId>;
  next: number;
}

interface Shard {
  readonly term: number;
  readonly demands: Map<EndpointId, Demand | null>;
  heardAtMs: number;
  /** When the last list began that was heard whole. */
  wholeAtMs: number;
  listing: Listing | null;
}

/**
 * The demand of all endpoints, put together from what the owners of their shards tell: of each shard only the newest
 * term counts that was heard of, and only for as long as whole lists keep coming. Instants are monotonic and the listener's own.
 *
 * An endpoint has no demand only when the owner has said so, or has left it out of a whole list: "unknown" changes nothing,
 * but "none" takes workers away.
 */
export class ShardDemands {
  readonly #shards = new Map<number, Shard>();
  readonly #staleMs: number;

  /** @param staleMs how long a whole list counts, and what was said by another owner before it is remembered */
  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  /** What is named counts at once. What a whole list does not name is gone when its last part is there. */
  hear(told: ToldDemand, heardAtMs: number): void {
    const shard = this.#shardAt(told, heardAtMs);
    if (shard === null) return;
    shard.heardAtMs = heardAtMs;
    shard.listing = continued(shard.listing, told, heardAtMs);
    for (const [endpointId, demand] of told.demands) {
      shard.demands.set(endpointId, demand);
      shard.listing?.named.add(endpointId);
    }
    if (shard.listing !== null && shard.listing.next === shard.listing.count) end(shard, shard.listing);
  }

  /** Null: unknown, which is not the same as none. */
  demandOf(endpointId: EndpointId, shard: number, nowMs: number): Demand | null {
    const known = this.#shards.get(shard);
    if (known === undefined || !this.#isKnown(known, nowMs)) return null;
    const demand = known.demands.get(endpointId);
    return demand === undefined ? NO_DEMAND : demand;
  }

  /** Every endpoint that is known to have demand. */
  endpointIds(nowMs: number): readonly EndpointId[] {
    const known = [...this.#shards.values()].filter((shard) => this.#isKnown(shard, nowMs));
    return known.flatMap(({ demands }) => [...demands].flatMap(([id, demand]) => (demand === null ? [] : [id])));
  }

  /** Null: its owner has been replaced since, so it is late. */
  #shardAt({ shard: number, term }: ToldDemand, heardAtMs: number): Shard | null {
    const known = this.#shards.get(number);
    // A bucket of claims that was made anew begins with low terms, so no term is remembered for ever.
    const isCurrent = known !== undefined && this.#isRemembered(known, heardAtMs);
    if (isCurrent && term < known.term) return null;
    if (isCurrent && term === known.term) return known;
    const made: Shard = {
      term,
      demands: new Map(),
      heardAtMs,
      wholeAtMs: Number.NEGATIVE_INFINITY,
      listing: null,
    };
    this.#shards.set(number, made);
    return made;
  }

  #isKnown({ wholeAtMs }: Shard, nowMs: number): boolean {
    return nowMs - wholeAtMs < this.#staleMs;
  }

  #isRemembered({ heardAtMs }: Shard, nowMs: number): boolean {
    return nowMs - heardAtMs < this.#staleMs;
  }
}

/** The list that is under way after this word; one of which a part is missing is given up, and the next one awaited. */
function continued(listing: Listing | null, { part }: ToldDemand, heardAtMs: number): Listing | null {
  if (part === null) return listing;
  const { count, index } = part;
  if (index === 0) return { beganAtMs: heardAtMs, count, named: new Set(), next: 1 };
  if (listing?.next !== index || listing.count !== count) return null;
  listing.next += 1;
  return listing;
}

function end(shard: Shard, { beganAtMs, named }: Listing): void {
  for (const endpointId of shard.demands.keys()) if (!named.has(endpointId)) shard.demands.delete(endpointId);
  shard.wholeAtMs = beganAtMs;
  shard.listing = null;
}
