import { ownersDemand, type DemandMessage } from '@berth/contracts';
import type { OwnedDemand, ToldDemand } from '@berth/domain';
import type { DemandSource } from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';

/** Changes within this time after the last message go out together. */
export const DEBOUNCE_MS = 50;
/** How soon a change is told that was not hurried, or came within that time. */
export const LOOK_MS = 10;

/** How often every shard is told of whole, changed or not. */
export const COMPLETE_INTERVAL_MS = 2_000;

/** Endpoints in one message: it must stay below the broker's message limit. */
export const ENDPOINTS_PER_MESSAGE = 2_000;

/** Endpoints from which on the next shard waits for the next turn: a slice of a few milliseconds. */
const ENDPOINTS_PER_TURN = 2_000;

export interface OwnerDemandOptions {
  readonly source: DemandSource;
  /** Sends it to the controllers, in order. A lost message is told again soon. */
  readonly publish: (message: DemandMessage) => void;
  readonly clock: Clock;
  /** Calls `run` when this turn of the event loop is over. */
  readonly atEndOfTurn: (run: () => void) => void;
  readonly routerId: string;
}

/**
 * Tells the controllers what waits and runs in the shards that this router owns: what has changed almost at once, and each shard
 * whole on a timer, for the first time as soon as it can be. Of any other shard nothing is said, because unknown is not
 * none.
 */
export class OwnerDemand {
  readonly #options: OwnerDemandOptions;
  /** When each shard was last told of whole in its present term, monotonic. */
  readonly #told = new Map<number, { readonly term: number; readonly atMs: number }>();
  #sequence = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #stop: (() => void) | undefined;
  #isHurried = false;

  constructor(options: OwnerDemandOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stop ??= this.#options.clock.every(LOOK_MS, () => this.#tell());
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Something may have changed: after quiet it is told at the end of this turn, since a job may wait for a worker that sleeps. */
  hurry(): void {
    const { atEndOfTurn, clock } = this.#options;
    if (this.#isHurried || clock.monotonicMs() - this.#toldAtMs < DEBOUNCE_MS) return;
    this.#isHurried = true;
    atEndOfTurn(() => {
      this.#isHurried = false;
      if (this.#stop !== undefined) this.#tell();
    });
  }

  #tell(): void {
    const { clock, publish, routerId } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#toldAtMs < DEBOUNCE_MS) return;
    this.#forgetLost();
    const told = [...this.#takeDue(), ...this.#takeChanges()];
    if (told.length > 0) this.#toldAtMs = nowMs;
    for (const part of inMessages(told)) {
      this.#sequence += 1;
      publish(ownersDemand({ routerId, sentAtMs: clock.nowMs(), sequence: this.#sequence }, part));
    }
  }

  #forgetLost(): void {
    const terms = new Map(this.#options.source.ownedShards().map(({ shard, term }) => [shard, term]));
    for (const [shard, { term }] of this.#told) if (terms.get(shard) !== term) this.#told.delete(shard);
  }

  /** Whole shards, those first that were not told of for the longest time. */
  #takeDue(): readonly ToldDemand[] {
    const { clock, source } = this.#options;
    const nowMs = clock.monotonicMs();
    const toldAtMs = (shard: number): number => this.#told.get(shard)?.atMs ?? Number.NEGATIVE_INFINITY;
    const due = source
      .ownedShards()
      .map(({ shard }) => shard)
      .filter((shard) => nowMs - toldAtMs(shard) >= COMPLETE_INTERVAL_MS)
      .sort((a, b) => compare(toldAtMs(a), toldAtMs(b)));
    const told: ToldDemand[] = [];
    let left = ENDPOINTS_PER_TURN;
    for (const shard of due) {
      const all = left > 0 ? source.takeAll(shard) : null;
      if (all === null) continue;
      told.push(...inParts(all));
      this.#told.set(shard, { term: all.term, atMs: nowMs });
      left -= all.demands.size;
    }
    return told;
  }

  /** A change in a shard that has not been told of whole yet will be in that list. */
  #takeChanges(): readonly ToldDemand[] {
    const changed = this.#options.source.takeChanged(ENDPOINTS_PER_MESSAGE);
    const isToTell = ({ demands, shard }: OwnedDemand): boolean => demands.size > 0 && this.#told.has(shard);
    return changed.filter(isToTell).map((each) => ({ ...each, part: null }));
  }
}

const compare = (a: number, b: number): number => (a === b ? 0 : a - b);

/** A shard whole, in as many parts as it takes messages. */
function inParts({ demands, shard, term }: OwnedDemand): readonly ToldDemand[] {
  const entries = [...demands];
  const count = Math.max(1, Math.ceil(entries.length / ENDPOINTS_PER_MESSAGE));
  return Array.from({ length: count }, (_, index) => {
    const part = entries.slice(index * ENDPOINTS_PER_MESSAGE, (index + 1) * ENDPOINTS_PER_MESSAGE);
    return { shard, term, part: { index, count }, demands: new Map(part) };
  });
}

/** As many together as one message holds, in order. Two parts of one shard are never together: the first fills its message. */
function inMessages(told: readonly ToldDemand[]): readonly (readonly ToldDemand[])[] {
  const messages: ToldDemand[][] = [];
  let left = 0;
  for (const each of told) {
    const message = messages.at(-1);
    if (message !== undefined && each.demands.size <= left) message.push(each);
    else {
      messages.push([each]);
      left = ENDPOINTS_PER_MESSAGE;
    }
    left -= each.demands.size;
  }
  return messages;
}
