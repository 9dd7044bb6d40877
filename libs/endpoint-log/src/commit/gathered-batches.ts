import { BATCH_MAX_BYTES, type LogPlace } from '@berth/domain';
import { encodeLines, lineBytes } from '../batch/fact-lines.js';
import type { LogIndex } from '../ports/log-broker.port.js';

/** The actions for when everything that had been decided before is committed, or is not known to be. */
export interface Effect {
  readonly tell: () => void;
  /** Nothing may be said: what became of it is not this owner's to know. */
  readonly drop: () => void;
}

/** Facts that travel together, and everything that rests on them and on nothing later. */
export class GatheredBatch {
  readonly place: LogPlace = { sequence: null };
  readonly lines: string[] = [];
  readonly effects: Effect[] = [];
  bytes = 0;
  /** As the batch leaves the endpoint; null: nothing was decided since. */
  index: LogIndex | null = null;

  encode(): Uint8Array {
    return encodeLines(this.lines);
  }
}

/** Bytes of facts that wait to be committed, from which on nothing more is decided. */
const GATHERED_MAX_BYTES = 8 * 1024 * 1024;

/** Batches that are decided and not committed: the one under way, and those that are filled behind it. */
export class GatheredBatches {
  #underWay: GatheredBatch | null = null;
  #filled: GatheredBatch[] = [];
  #bytes = 0;

  get isCommitted(): boolean {
    return this.#underWay === null && this.#filled.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= GATHERED_MAX_BYTES;
  }

  /**
   * Adds a fact to the batch that is being filled, or to a new one where it has no room. Returns where it will lie.
   *
   * @param index of the endpoint without that fact
   */
  add(line: string, index: () => LogIndex): LogPlace {
    const bytes = lineBytes(line);
    let batch = this.#filled.at(-1);
    if (batch === undefined || batch.bytes + bytes > BATCH_MAX_BYTES) {
      if (batch !== undefined) batch.index = index();
      batch = new GatheredBatch();
      this.#filled.push(batch);
    }
    batch.lines.push(line);
    batch.bytes += bytes;
    this.#bytes += bytes;
    return batch.place;
  }

  /** Rests on the newest of what is not committed, of which there must be something. */
  rest(effect: Effect): void {
    (this.#filled.at(-1) ?? this.#underWay)?.effects.push(effect);
  }

  /** The oldest batch, which is under way from now on; null where there is none. */
  take(): GatheredBatch | null {
    this.#underWay = this.#filled.shift() ?? null;
    return this.#underWay;
  }

  /** The effects that may be told now, in the order in which they were decided. */
  committed(batch: GatheredBatch): readonly Effect[] {
    this.#bytes -= batch.bytes;
    this.#underWay = null;
    return batch.effects;
  }

  /** Everything that rests on anything, in order. */
  dropAll(): readonly Effect[] {
    const batches = [...(this.#underWay === null ? [] : [this.#underWay]), ...this.#filled];
    this.#underWay = null;
    this.#filled = [];
    this.#bytes = 0;
    return batches.flatMap(({ effects }) => effects);
  }
}
