/** One batch of a log, or several that follow each other, as far as carrying asks. */
export interface LedgerEntry {
  /** Of the last one. */
  readonly sequence: number;
  /** Of its last fact, Unix ms. */
  readonly atMs: number;
  readonly bytes: number;
}

/** Small neighbours of one moment are one entry: carrying asks for minutes, and for half megabytes. */
const MERGED_MS = 10_000;
const MERGED_BYTES = 64 * 1024;

/** How much lies where in a log, and how old it is: enough to say when carrying is worth it, and how far it may go. */
export class LogLedger {
  #entries: LedgerEntry[] = [];
  #bytes = 0;

  /** Bytes of facts that the log holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of the oldest batches, Unix ms; null: the log is empty. */
  get oldestAtMs(): number | null {
    return this.#entries[0]?.atMs ?? null;
  }

  /** The newest batch. */
  add(entry: LedgerEntry): void {
    this.#bytes += entry.bytes;
    const newest = this.#entries.at(-1);
    const isNear =
      newest !== undefined && entry.atMs - newest.atMs < MERGED_MS && newest.bytes + entry.bytes <= MERGED_BYTES;
    if (!isNear) this.#entries.push(entry);
    // The instant of the first one stays, or a log that is written steadily would be one entry for ever.
    else this.#entries.splice(-1, 1, { ...newest, sequence: entry.sequence, bytes: newest.bytes + entry.bytes });
  }

  /** The last sequence of which everything is that old, or older; 0: nothing is. */
  through(atMs: number): number {
    return this.#entries.findLast((entry) => entry.atMs + MERGED_MS <= atMs)?.sequence ?? 0;
  }

  /** Bytes at that sequence and before it, rather too few than too many. */
  bytesThrough(sequence: number): number {
    return this.#entries.reduce((sum, entry) => (entry.sequence <= sequence ? sum + entry.bytes : sum), 0);
  }

  /** The log begins behind this sequence from now on. */
  purged(through: number): void {
    this.#bytes -= this.bytesThrough(through);
    this.#entries = this.#entries.filter(({ sequence }) => sequence > through);
  }
}
