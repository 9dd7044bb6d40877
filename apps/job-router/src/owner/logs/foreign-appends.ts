import type { LogBroker } from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';
import { logShard } from '@berth/messaging';

interface Shard {
  /** Everything through here is known to be this router's, or has been looked at. */
  checked: number;
  /** Of the stream at the last look; it is judged at the next one, when what was under way then is answered. */
  seen: number;
  /** Sequences behind `checked` that this router wrote. */
  own: number[];
  isSuspect: boolean;
  /** Monotonic. */
  toldAtMs: number;
}

/** A broker that is slow looks like somebody who writes; to read the index again and again would make it slower. */
const AGAIN_MS = 5_000;

/**
 * Finds out that somebody else has written to a shard of this router: a former owner whose append was late. Sequences of a
 * stream have no holes where they are given, so whatever is neither this router's nor known was written by another.
 */
export class ForeignAppends {
  readonly #shards = new Map<number, Shard>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** This router has written. */
  stored(shard: number, sequence: number): void {
    this.#shards.get(shard)?.own.push(sequence);
  }

  /**
   * Whether the index of the shard is to be read now.
   *
   * @param last sequence of the shard's stream; to be told at each look
   */
  looked(shard: number, last: number): boolean {
    const known = this.#shards.get(shard);
    // The appends between the shard's taking and this look are not known.
    if (known === undefined || last < known.seen) {
      const toldAtMs = this.#clock.monotonicMs();
      this.#shards.set(shard, { checked: last, seen: last, own: [], isSuspect: false, toldAtMs });
      return true;
    }
    const { checked, own, seen } = known;
    const written = own.filter((sequence) => sequence > checked && sequence <= seen).length;
    known.isSuspect ||= written < seen - checked;
    Object.assign(known, { checked: seen, seen: last, own: own.filter((sequence) => sequence > seen) });
    return known.isSuspect && this.#mayTell(known);
  }

  /** The shard is somebody else's. */
  leave(shard: number): void {
    this.#shards.delete(shard);
  }

  #mayTell(shard: Shard): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - shard.toldAtMs < AGAIN_MS) return false;
    shard.toldAtMs = nowMs;
    shard.isSuspect = false;
    return true;
  }
}

/** The same broker, and what is stored through it is told. */
export const noting = (broker: LogBroker, stored: (shard: number, sequence: number) => void): LogBroker => ({
  append: async (batch) => {
    const outcome = await broker.append(batch);
    if (outcome.kind === 'stored') stored(logShard(batch.endpointId), outcome.sequence);
    return outcome;
  },
  readNext: (...asked) => broker.readNext(...asked),
  read: (...asked) => broker.read(...asked),
  purge: (...asked) => broker.purge(...asked),
  heads: (...asked) => broker.heads(...asked),
});
