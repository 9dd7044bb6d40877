import type { EndpointId } from '../../src/ids.js';
import { NO_DEMAND, ToldDemands, type Demand, type ToldDemand } from '../../src/scaling/index.js';

export const ENDPOINTS = 4;
const STALE_MS = 10_000;
/** Who hears a message hears it before another owner could be forgotten. */
export const MESSAGE_MAX_AGE_MS = 4_000;
const SHARD = 0;

const idOf = (endpoint: number): EndpointId => `e${endpoint}` as EndpointId;

/** What happens next in a shard whose owners change, and to what they say of it. */
export type DemandStep =
  | { readonly kind: 'submit' | 'end' | 'break' | 'mend'; readonly endpoint: number }
  /** Somebody claims the shard: the one before it may have said anything, or have died in the middle of it. */
  | { readonly kind: 'claim' }
  /** The owner knows every endpoint of the shard from now on. */
  | { readonly kind: 'read-index' }
  | { readonly kind: 'say-changes' }
  | { readonly kind: 'say-all'; readonly partSize: number }
  /** The next message of one of the owners that there ever were arrives, or never will. */
  | { readonly kind: 'deliver' | 'lose'; readonly owner: number }
  | { readonly kind: 'pass'; readonly ms: number };

/** Something that was said, and of how many things before it. */
interface Said {
  readonly told: ToldDemand;
  readonly order: number;
  readonly sentAtMs: number;
}

interface Owner {
  readonly term: number;
  /** Of the last message that it sent. */
  sequence: number;
  isWhole: boolean;
  readonly changed: Set<number>;
  /** Said and not heard yet, in order. */
  readonly underWay: Said[];
  /** Parts of a list that have been heard, without a gap. */
  heardParts: Said[];
}

/**
 * One shard, its jobs as they are, the owners it has had, and whoever hears them. What ought to be known of an endpoint is
 * found in obvious ways: of all that was heard, the statement that was made last.
 */
export class DemandWorld {
  readonly #board = new ToldDemands(STALE_MS);
  readonly #jobs = new Array<number>(ENDPOINTS).fill(0);
  readonly #broken = new Set<number>();
  readonly #owners: Owner[] = [newOwner(1)];
  /** By endpoint, what was said last of all that was heard. */
  readonly #heard = new Map<number, { readonly order: number; readonly demand: Demand | null }>();
  #order = 0;
  #nowMs = 0;

  take(step: DemandStep): void {
    switch (step.kind) {
      case 'submit':
        return this.#change(step.endpoint, () => (this.#jobs[step.endpoint]! += 1));
      case 'end':
        return this.#change(step.endpoint, () => (this.#jobs[step.endpoint] = 0));
      case 'break':
        return this.#change(step.endpoint, () => this.#broken.add(step.endpoint));
      case 'mend':
        return this.#change(step.endpoint, () => this.#broken.delete(step.endpoint));
      case 'claim':
        this.#owners.push(newOwner(this.#owner.term + 1));
        return;
      case 'read-index':
        this.#owner.isWhole = true;
        return;
      case 'say-changes':
        return this.#sayChanges();
      case 'say-all':
        return this.#sayAll(step.partSize);
      case 'deliver':
        return this.#deliver(this.#owners[step.owner]);
      case 'lose':
        return this.#lose(this.#owners[step.owner]);
      case 'pass':
        return this.#pass(step.ms);
      default:
        step satisfies never;
    }
  }

  check(when: string): void {
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
      const known = this.#board.demandOf({ endpointId: idOf(endpoint), shard: SHARD, type: 'QUEUE' }, this.#nowMs);
      const said = this.#heard.get(endpoint)?.demand ?? null;
      const isSame = known === null || known.queuedNormal === said?.queuedNormal;
      if (!isSame)
        throw new Error(`${when}: ${known.queuedNormal} at e${endpoint}, of which was said ${said?.queuedNormal}`);
    }
  }

  /** Everything that is under way arrives, and the owner says all there is. */
  calm(): void {
    this.#owner.isWhole = true;
    for (const owner of this.#owners) while (owner.underWay.length > 0) this.#deliver(owner);
    this.#sayAll(2);
    while (this.#owner.underWay.length > 0) this.#deliver(this.#owner);
    this.check('in the end');
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
      const known =
        this.#board.demandOf({ endpointId: idOf(endpoint), shard: SHARD, type: 'QUEUE' }, this.#nowMs)?.queuedNormal ??
        null;
      const is = this.#demandOf(endpoint)?.queuedNormal ?? null;
      if (known !== is) throw new Error(`in the end: ${known} at e${endpoint}, which has ${is}`);
    }
  }

  get #owner(): Owner {
    return this.#owners.at(-1)!;
  }

  #demandOf(endpoint: number): Demand | null {
    return this.#broken.has(endpoint) ? null : { ...NO_DEMAND, queuedNormal: this.#jobs[endpoint]! };
  }

  #change(endpoint: number, change: () => unknown): void {
    change();
    this.#owner.changed.add(endpoint);
  }

  #sayChanges(): void {
    this.#say([...this.#owner.changed], null);
    this.#owner.changed.clear();
  }

  #sayAll(partSize: number): void {
    if (!this.#owner.isWhole) return;
    const demanding = Array.from({ length: ENDPOINTS }, (_, endpoint) => endpoint).filter(
      (endpoint) => this.#demandOf(endpoint)?.queuedNormal !== 0,
    );
    const count = Math.max(1, Math.ceil(demanding.length / partSize));
    this.#order += 1;
    for (let index = 0; index < count; index += 1) {
      this.#say(demanding.slice(index * partSize, (index + 1) * partSize), { index, count });
    }
    this.#owner.changed.clear();
  }

  #say(endpoints: readonly number[], part: ToldDemand['part']): void {
    if (part === null) this.#order += 1;
    const { term, underWay } = this.#owner;
    const sequence = (this.#owner.sequence += 1);
    const demands = new Map(endpoints.map((endpoint) => [idOf(endpoint), this.#demandOf(endpoint)]));
    underWay.push({ told: { shard: SHARD, term, part, sequence, demands }, order: this.#order, sentAtMs: this.#nowMs });
  }

  #deliver(owner: Owner | undefined): void {
    const said = owner?.underWay.shift();
    if (owner === undefined || said === undefined) return;
    this.#board.hear(said.told, this.#nowMs);
    for (const [endpointId, demand] of said.told.demands) this.#note(Number(endpointId.slice(1)), demand, said.order);
    this.#hearPart(owner, said);
  }

  /** Of an endpoint that a list leaves out nothing is heard before every part of it has been. */
  #hearPart(owner: Owner, said: Said): void {
    const { part } = said.told;
    if (part === null) return;
    if (part.index === 0) owner.heardParts = [];
    owner.heardParts.push(said);
    const isWhole =
      owner.heardParts.length === part.count && owner.heardParts.every(({ order }) => order === said.order);
    if (!isWhole) return;
    const named = new Set(owner.heardParts.flatMap(({ told }) => [...told.demands.keys()]));
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
      if (!named.has(idOf(endpoint))) this.#note(endpoint, NO_DEMAND, said.order);
    }
  }

  #note(endpoint: number, demand: Demand | null, order: number): void {
    if ((this.#heard.get(endpoint)?.order ?? 0) <= order) this.#heard.set(endpoint, { order, demand });
  }

  #lose(owner: Owner | undefined): void {
    owner?.underWay.shift();
  }

  #pass(ms: number): void {
    this.#nowMs += ms;
    for (const owner of this.#owners) {
      while (this.#nowMs - (owner.underWay[0]?.sentAtMs ?? this.#nowMs) > MESSAGE_MAX_AGE_MS) this.#lose(owner);
    }
  }
}

const newOwner = (term: number): Owner => ({
  term,
  sequence: 0,
  isWhole: false,
  changed: new Set(),
  underWay: [],
  heardParts: [],
});
