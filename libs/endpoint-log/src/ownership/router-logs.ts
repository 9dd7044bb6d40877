import type { Demand, EndpointId, OwnedDemand, RouterPresence } from '@berth/domain';
import { ControlLoop } from '@berth/lifecycle';
import type { OwnershipListener, ShardOwnershipOptions } from '../claims/ownership-options.js';
import { ShardOwnership } from '../claims/shard-ownership.js';
import type { DemandSource } from '../ports/demand-source.port.js';
import { LogOwner, type LogOwnerOptions } from './log-owner.js';
import type { LogAsker } from './owned-endpoint.js';

export interface RouterLogsOptions
  extends Omit<LogOwnerOptions, 'trusts' | 'routerId'>, Omit<ShardOwnershipOptions, 'listener' | 'drain'> {
  readonly self: RouterPresence;
  readonly listener: OwnershipListener;
}

const TEND_MS = 60_000;
const RETRY_MS = 500;

/** All that one router does with logs: it claims its share of the shards, and owns the endpoints in them. */
export class RouterLogs implements DemandSource {
  readonly #options: RouterLogsOptions;
  readonly #ownership: ShardOwnership;
  readonly #owner: LogOwner;
  readonly #tending: ControlLoop;
  readonly #end = new AbortController();

  constructor(options: RouterLogsOptions) {
    const { clock, listener, onError, self } = options;
    this.#options = options;
    this.#owner = new LogOwner({
      ...options,
      routerId: self.routerId,
      trusts: (shard) => this.#ownership.trusts(shard),
    });
    this.#ownership = new ShardOwnership({
      ...options,
      drain: (shard) => this.#owner.drain(shard, this.#end.signal),
      listener: {
        onDone: (deed) => listener.onDone(deed),
        onTrustChanged: (shard, isTrusted) => listener.onTrustChanged(shard, isTrusted),
        onTaken: (shard, term) => {
          void this.#take(shard, term);
          listener.onTaken(shard, term);
        },
        onLost: (shard, reason) => {
          this.#owner.drop(shard);
          listener.onLost(shard, reason);
        },
      },
    });
    this.#tending = new ControlLoop({
      name: 'endpoint.logs',
      intervalMs: TEND_MS,
      clock,
      onError,
      run: () => this.#owner.tend(),
    });
  }

  start(): void {
    this.#owner.start();
    this.#ownership.start();
    this.#tending.start();
  }

  /** Brings the asker to the endpoint's log, where this router owns it. */
  ask(endpointId: EndpointId, asker: LogAsker): void {
    this.#owner.ask(endpointId, asker);
  }

  ownedShards(): readonly Pick<OwnedDemand, 'shard' | 'term'>[] {
    return this.#owner.wholeShards.flatMap((shard) => {
      const term = this.#ownership.termOf(shard);
      return term === null ? [] : [{ shard, term }];
    });
  }

  takeChanged(max: number): readonly OwnedDemand[] {
    let left = max;
    const changed: OwnedDemand[] = [];
    for (const owned of this.ownedShards()) {
      if (left === 0) break;
      const demands = this.#owner.takeChangedDemand(owned.shard, left);
      if (demands.size > 0) changed.push({ ...owned, demands });
      left -= demands.size;
    }
    return changed;
  }

  takeAll(shard: number): OwnedDemand | null {
    const owned = this.ownedShards().find((each) => each.shard === shard);
    return owned === undefined ? null : { ...owned, demands: this.#owner.takeDemand(shard) };
  }

  /** Of the endpoints that this router owns and that have any. */
  get demands(): ReadonlyMap<EndpointId, Demand> {
    return this.#owner.demands;
  }

  /** The connection to the broker is lost. */
  disconnected(): void {
    this.#ownership.disconnected();
  }

  /** It is back: hosts could not be heard meanwhile. */
  reconnected(): void {
    this.#owner.hearHosts();
  }

  /**
   * Another router may have written to the shard: its index tells what. Never rejects; it is read each minute in any
   * case.
   */
  async lookAgain(shard: number): Promise<void> {
    try {
      await this.#owner.lookAgain(shard);
    } catch (error) {
      this.#options.onError('endpoint.logs', error);
    }
  }

  /** Finishes what is under way and gives the shards to others. */
  async handOver(): Promise<void> {
    await this.#ownership.handOver();
    this.#end.abort();
    await this.#tending.stop();
    this.#owner.stop();
  }

  /** Endpoints that are asked for are opened already; the index tells which others there are. */
  async #take(shard: number, term: number): Promise<void> {
    const { clock, onError } = this.#options;
    while (!this.#end.signal.aborted && this.#ownership.termOf(shard) === term) {
      try {
        await this.#owner.take(shard);
        return;
      } catch (error) {
        onError('endpoint.logs', error);
      }
      await clock.sleep(RETRY_MS, this.#end.signal);
    }
  }
}
