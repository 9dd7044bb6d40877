import { DueHeap, type Demand, type EndpointId, type PurgeableDecision, type TouchedJob } from '@berth/domain';
import { Semaphore, type Clock, type Random } from '@berth/lifecycle';
import type { LogBroker } from '../ports/log-broker.port.js';
import { DemandLedger } from './demand-ledger.js';
import { OwnedEndpoint, type EndpointEvent, type LogAsker } from './owned-endpoint.js';

export interface LogOwnerOptions {
  readonly routerId: string;
  readonly broker: LogBroker;
  readonly clock: Clock;
  readonly random: Random;
  /** Calls `run` when this turn of the event loop is over. */
  readonly atEndOfTurn: (run: () => void) => void;
  readonly shardOf: (endpointId: EndpointId) => number;
  /** Whether it is certain now that nobody else owns the shard. */
  readonly trusts: (shard: number) => boolean;
  /** How far the shard's log may be purged, as far as the follower is concerned. */
  readonly purgeable: (shard: number) => PurgeableDecision;
  readonly onTouched: (endpointId: EndpointId, touched: readonly TouchedJob[]) => void;
  /** Tries of the endpoint's webhook deliveries may begin. Told again from time to time while there are any. */
  readonly onDeliveriesDue: (endpointId: EndpointId) => void;
  /**
   * The due things of an endpoint have been looked at: jobs whose delay has ended may be taken, which no fact tells.
   */
  readonly onLooked: (endpointId: EndpointId) => void;
  readonly onEvent: (event: EndpointEvent) => void;
}

type Shard = Map<EndpointId, OwnedEndpoint>;

const OPENINGS_MAX = 64;
const TICK_MS = 50;
/** Endpoints that are looked at in one tick: a slice of a few milliseconds. */
const LOOKS_MAX = 256;
/** The process stood still for longer than this: hosts could not be heard. */
const STALL_MS = 1_000;
const DRAIN_POLL_MS = 5;

/** The endpoints of the shards that this router owns. The ownership of shards is decided elsewhere. */
export class LogOwner {
  readonly #options: LogOwnerOptions;
  readonly #shards = new Map<number, Shard>();
  /** Those of which it is known which endpoints there are. */
  readonly #whole = new Set<number>();
  readonly #draining = new Set<number>();
  readonly #demand = new DemandLedger();
  readonly #openings = new Semaphore(OPENINGS_MAX);
  readonly #due = new DueHeap<OwnedEndpoint>({
    compare: (a, b) => a.dueAtMs - b.dueAtMs,
    dueAtMs: ({ dueAtMs }) => dueAtMs,
    indexOf: ({ dueIndex }) => dueIndex,
    setIndex: (endpoint, index) => {
      endpoint.dueIndex = index;
    },
  });
  #tickedAtMs: number;
  #stopTicks: (() => void) | undefined;

  constructor(options: LogOwnerOptions) {
    this.#options = options;
    this.#tickedAtMs = options.clock.monotonicMs();
  }

  start(): void {
    this.#stopTicks ??= this.#options.clock.every(TICK_MS, () => this.tick());
  }

  stop(): void {
    this.#stopTicks?.();
    for (const shard of [...this.#shards.keys()]) this.drop(shard);
  }

  /** Brings the asker to the endpoint's log, once it is open. */
  ask(endpointId: EndpointId, asker: LogAsker): void {
    const shard = this.#options.shardOf(endpointId);
    const endpoints = this.#shards.get(shard);
    if (endpoints === undefined || !this.#mayDecide(shard)) asker.refuse('unsettled');
    else this.#endpoint(endpoints, endpointId).ask(asker);
  }

  /**
   * The shard is this router's. Endpoints with running jobs are opened at once, since the holders wait to be heard; all
   * others when they are asked for, or due.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer: to be called again
   */
  async take(shard: number): Promise<void> {
    const endpoints = this.#shards.get(shard) ?? new Map<EndpointId, OwnedEndpoint>();
    this.#shards.set(shard, endpoints);
    await this.#readIndex(endpoints, shard);
    if (this.#shards.get(shard) === endpoints) this.#whole.add(shard);
  }

  /**
   * The shard is somebody else's, or nobody's. Batches under way here may be committed all the same; nothing is told.
   */
  drop(shard: number): void {
    for (const endpoint of this.#shards.get(shard)?.values() ?? []) {
      this.#due.remove(endpoint);
      endpoint.letGo();
    }
    this.#shards.delete(shard);
    this.#whole.delete(shard);
    this.#draining.delete(shard);
    this.#demand.drop(shard);
  }

  /** Begins nothing more for the shard, and resolves when nothing of it waits to be committed, or with the signal. */
  async drain(shard: number, signal: AbortSignal): Promise<void> {
    this.#draining.add(shard);
    const isBusy = ({ log }: OwnedEndpoint): boolean => log !== null && !log.isQuiet;
    while (!signal.aborted && [...(this.#shards.get(shard)?.values() ?? [])].some(isBusy)) {
      await this.#options.clock.sleep(DRAIN_POLL_MS, signal);
    }
    this.drop(shard);
  }

  /**
   * Once a minute: finds endpoints that have become due or that nobody had heard of, closes idle ones, keeps logs short.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer
   */
  async tend(): Promise<void> {
    for (const [shard, endpoints] of [...this.#shards]) {
      await this.#readIndex(endpoints, shard);
      for (const [endpointId, endpoint] of [...endpoints]) {
        await endpoint.tend();
        if (endpoint.isForgettable) this.#forget(endpoints, endpointId);
      }
    }
  }

  /**
   * Another router may have written to the shard: finds what has become due or is wanted by that.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer
   */
  async lookAgain(shard: number): Promise<void> {
    const endpoints = this.#shards.get(shard);
    if (endpoints !== undefined) await this.#readIndex(endpoints, shard);
  }

  /** Hosts could not be heard for a while: none of their leases ends before they had time to say what they hold. */
  hearHosts(): void {
    for (const endpoints of this.#shards.values()) {
      for (const { log } of endpoints.values()) log?.hear();
    }
  }

  /** Looks at what is due. */
  tick(): void {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#tickedAtMs > STALL_MS) this.hearHosts();
    this.#tickedAtMs = nowMs;
    for (const endpoint of this.#due.due(clock.nowMs(), LOOKS_MAX)) endpoint.look();
  }

  /** Of which shards it can be said now what demand there is in them. */
  get wholeShards(): readonly number[] {
    return [...this.#whole].filter((shard) => this.#mayDecide(shard));
  }

  /**
   * The demand that has changed in a whole shard since it was last told, at most `max` endpoints. Null: it is not
   * known.
   */
  takeChangedDemand(shard: number, max: number): ReadonlyMap<EndpointId, Demand | null> {
    return this.#demand.takeChanged(shard, max);
  }

  /** Every endpoint of a whole shard that has any demand, or of which it is not known (null). It is told by that. */
  takeDemand(shard: number): ReadonlyMap<EndpointId, Demand | null> {
    return this.#demand.takeAll(shard);
  }

  get demands(): ReadonlyMap<EndpointId, Demand> {
    return this.#demand.demands();
  }

  #mayDecide(shard: number): boolean {
    return !this.#draining.has(shard) && this.#options.trusts(shard);
  }

  async #readIndex(endpoints: Shard, shard: number): Promise<void> {
    for await (const head of this.#options.broker.heads(shard)) {
      if (this.#shards.get(shard) !== endpoints) return;
      const { endpointId, index } = head;
      const isQuiet = index !== null && index.running === 0 && index.dueAtMs === null;
      if (endpoints.has(endpointId) || !isQuiet) this.#endpoint(endpoints, endpointId).note(head);
    }
  }

  #forget(endpoints: Shard, endpointId: EndpointId): void {
    const endpoint = endpoints.get(endpointId);
    if (endpoint !== undefined) this.#due.remove(endpoint);
    endpoints.delete(endpointId);
  }

  #endpoint(endpoints: Shard, endpointId: EndpointId): OwnedEndpoint {
    const known = endpoints.get(endpointId);
    if (known !== undefined) return known;
    const shard = this.#options.shardOf(endpointId);
    const made = new OwnedEndpoint({
      ...this.#options,
      endpointId,
      openings: this.#openings,
      mayDecide: () => this.#options.trusts(shard),
      purgeable: () => this.#options.purgeable(shard),
      onTouched: (touched) => this.#options.onTouched(endpointId, touched),
      onDue: (endpoint) => this.#due.put(endpoint),
      onDemand: (endpoint) => this.#demand.note(shard, endpointId, endpoint),
    });
    endpoints.set(endpointId, made);
    return made;
  }
}
