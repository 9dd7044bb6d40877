import type { EndpointType } from '../endpoint/index.js';
import type { EndpointId } from '../ids.js';
import { NO_DEMAND, type Demand } from './demand.js';
import { believedOfHost } from './host-rooms.js';
import { sumDemands } from './sum-demands.js';

/** Endpoints of which a host may speak: more than any has workers. */
export const HOST_ENDPOINTS_MAX = 4_096;

/** What the owner of a shard of endpoints knows of their jobs. */
export interface OwnedDemand {
  readonly shard: number;
  /** Of its claim. Terms rise with every change of the owner, and no two have one at the same time. */
  readonly term: number;
  /** Null: it is not known, as of an endpoint whose log cannot be read. */
  readonly demands: ReadonlyMap<EndpointId, Demand | null>;
}

interface Telling {
  /**
   * Which part it is, from 0, of a list of all endpoints that have any demand as far as its source sees, or of which that
   * is not known. Null: it names what has changed.
   */
  readonly part: { readonly index: number; readonly count: number } | null;
  /**
   * Grows by one with every message of one process, and the parts of a list are messages one after another: so those of two
   * lists are told apart. Absent where the writer is of a version that did not count.
   */
  readonly sequence?: number;
}

/** A piece of what an owner tells. The words of one owner arrive in the order in which it says them, or not at all. */
export interface ToldDemand extends OwnedDemand, Telling {}

/** The processes that see some of the requests to load-balanced endpoints, and never all of them. */
export interface DemandWitness {
  /** A router tells of the requests that it holds, the agent of a host of those that are under way there. */
  readonly kind: 'router' | 'host';
  readonly id: string;
}

/** A piece of what a witness tells: each request is told of by one of them at a time, so what they tell is summed. */
export interface WitnessedDemand extends Omit<OwnedDemand, 'shard'>, Telling {
  readonly witness: DemandWitness;
  /** Rises with every start of its process. */
  readonly term: number;
}

export interface DemandQuestion {
  readonly endpointId: EndpointId;
  /** That of its log. */
  readonly shard: number;
  readonly type: EndpointType;
  /**
   * How many requests each host can have that has workers of it: a host is believed no more, and another one nothing. Absent:
   * all are believed everything.
   */
  readonly rooms?: ReadonlyMap<string, number>;
}

/** A list of which not every part has been heard. */
interface Listing {
  readonly beganAtMs: number;
  /** The number of the message that began it; null where they are not counted. */
  readonly begin: number | null;
  readonly count: number;
  readonly named: Set<EndpointId>;
  next: number;
}

/** A source, with what is known by it: the owner of a shard, or a witness. */
interface Source {
  /** Null: it owns a shard. */
  readonly witness: DemandWitness | null;
  readonly term: number;
  sequence: number;
  readonly demands: Map<EndpointId, Demand | null>;
  heardAtMs: number;
  /** When the last list began that was heard whole. */
  wholeAtMs: number;
  listing: Listing | null;
}

/**
 * The demand of all endpoints, put together from what its sources tell: of each source only the newest term counts that was
 * heard of, and only for as long as whole lists keep coming. Of a queue the owner of its shard sees everything. Of a
 * load-balanced endpoint everybody sees some, and the sum counts. Instants are monotonic and the listener's own.
 *
 * An endpoint has no demand only when each source has said so, or has left it out of a whole list: "unknown" changes nothing,
 * but "none" takes workers away.
 */
export class ToldDemands {
  readonly #owners: Place['sources'] = new Map();
  readonly #witnesses: Place['sources'] = new Map();
  readonly #staleMs: number;
  /** Since when something has been heard without a silence of everybody. */
  #sinceMs = Number.POSITIVE_INFINITY;
  #heardAtMs = Number.NEGATIVE_INFINITY;

  /**
   * @param staleMs how long a whole list counts, and what was said in an older term is remembered. It has to be several
   * times as long as sources take from one list to the next: who is silent for so long is dead or cut off, and the callers
   * whose requests it had are gone, or come again by others
   */
  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  /** What is named counts at once. What a whole list does not name is gone when its last part is there. */
  hear(told: ToldDemand | WitnessedDemand, heardAtMs: number): void {
    if (heardAtMs - this.#heardAtMs >= this.#staleMs) this.#sinceMs = heardAtMs;
    this.#heardAtMs = heardAtMs;
    const place: Place =
      'witness' in told
        ? { sources: this.#witnesses, key: `${told.witness.kind}.${told.witness.id}`, witness: told.witness }
        : { sources: this.#owners, key: told.shard, witness: null };
    const source = this.#sourceAt(place, told, heardAtMs);
    if (source !== null) note(source, told, heardAtMs);
  }

  /** Null: unknown, which is not the same as none. */
  demandOf({ endpointId, rooms, shard, type }: DemandQuestion, nowMs: number): Demand | null {
    const owner = this.#owners.get(shard);
    // Where no owner is heard, nobody may be, so a silence of witnesses would mean nothing.
    if (owner === undefined || !this.#isKnown(owner, nowMs)) return null;
    const ofOwner = partOf(owner, endpointId);
    if (type === 'QUEUE') return ofOwner;
    // How many witnesses there are nobody knows, but by then each that lives has told everything once.
    if (nowMs - this.#sinceMs < this.#staleMs) return null;
    const seen = this.#knownOf(this.#witnesses, nowMs).map((source) => seenBy(source, endpointId, rooms));
    return sumDemands([ofOwner, ...seen]);
  }

  /** Every endpoint that is known to have demand; what hosts say is left out, for they speak of those with workers only. */
  endpointIds(nowMs: number): readonly EndpointId[] {
    const routers = this.#knownOf(this.#witnesses, nowMs).filter(({ witness }) => witness?.kind !== 'host');
    const known = [...this.#knownOf(this.#owners, nowMs), ...routers];
    const ids = known.flatMap(({ demands }) => [...demands].flatMap(([id, demand]) => (demand === null ? [] : [id])));
    return [...new Set(ids)];
  }

  /** Null: it has spoken again since, or somebody in its place, so it is late. */
  #sourceAt({ key, sources, witness }: Place, { sequence, term }: Spoken, heardAtMs: number): Source | null {
    const known = sources.get(key);
    // A bucket of claims that was made anew begins with low terms, so no term is remembered for ever.
    const isCurrent = known !== undefined && this.#isRemembered(known, heardAtMs);
    if (isCurrent && term < known.term) return null;
    if (isCurrent && term === known.term) return (sequence ?? Number.POSITIVE_INFINITY) > known.sequence ? known : null;
    for (const [each, source] of sources) if (!this.#isRemembered(source, heardAtMs)) sources.delete(each);
    const made: Source = {
      witness,
      term,
      sequence: Number.NEGATIVE_INFINITY,
      demands: new Map(),
      heardAtMs,
      wholeAtMs: Number.NEGATIVE_INFINITY,
      listing: null,
    };
    sources.set(key, made);
    return made;
  }

  #knownOf(sources: Place['sources'], nowMs: number): readonly Source[] {
    return [...sources.values()].filter((source) => this.#isKnown(source, nowMs));
  }

  #isKnown({ wholeAtMs }: Source, nowMs: number): boolean {
    return nowMs - wholeAtMs < this.#staleMs;
  }

  #isRemembered({ heardAtMs }: Source, nowMs: number): boolean {
    return nowMs - heardAtMs < this.#staleMs;
  }
}

/** Of whom something is known, and under which key. */
interface Place {
  readonly sources: Map<number | string, Source>;
  readonly key: number | string;
  readonly witness: DemandWitness | null;
}

type Spoken = Pick<WitnessedDemand, 'sequence' | 'term'>;

function seenBy(source: Source, endpointId: EndpointId, rooms: DemandQuestion['rooms']): Demand | null {
  const { witness } = source;
  const part = partOf(source, endpointId);
  if (witness?.kind !== 'host' || rooms === undefined) return part;
  return believedOfHost(part, rooms.get(witness.id) ?? 0);
}

function partOf({ demands }: Source, endpointId: EndpointId): Demand | null {
  const demand = demands.get(endpointId);
  return demand === undefined ? NO_DEMAND : demand;
}

function note(source: Source, told: Omit<WitnessedDemand, 'witness'>, heardAtMs: number): void {
  source.heardAtMs = heardAtMs;
  source.sequence = told.sequence ?? source.sequence;
  source.listing = continued(source.listing, told, heardAtMs);
  for (const [endpointId, demand] of told.demands) {
    if (!hasRoomFor(source, endpointId)) continue;
    source.demands.set(endpointId, demand);
    source.listing?.named.add(endpointId);
  }
  if (source.listing !== null && source.listing.next === source.listing.count) end(source, source.listing);
}

/** What a host says beyond its share is left out: it belongs to somebody, and may name whatever it likes. */
const hasRoomFor = ({ demands, witness }: Source, endpointId: EndpointId): boolean =>
  witness?.kind !== 'host' || demands.size < HOST_ENDPOINTS_MAX || demands.has(endpointId);

/** The list that is under way after this word; one of which a part is missing is given up, and the next one awaited. */
function continued(listing: Listing | null, { part, sequence }: Telling, heardAtMs: number): Listing | null {
  if (part === null) return listing;
  const { count, index } = part;
  const begin = sequence === undefined ? null : sequence - index;
  if (index === 0) return { beganAtMs: heardAtMs, begin, count, named: new Set(), next: 1 };
  if (listing?.next !== index || listing.count !== count || listing.begin !== begin) return null;
  listing.next += 1;
  return listing;
}

function end(source: Source, { beganAtMs, named }: Listing): void {
  for (const endpointId of source.demands.keys()) if (!named.has(endpointId)) source.demands.delete(endpointId);
  source.wholeAtMs = beganAtMs;
  source.listing = null;
}
