/** One batch of a log, as far as carrying asks. */
export interface LedgerEntry {
  readonly sequence: number;
  /** Of its last fact, Unix ms. */
  readonly atMs: number;
  readonly bytes: number;
}

/** Neighbours within this are one entry: carrying asks for minutes. */
const MERGED_MS = 10_000;

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
    if (newest === undefined || Math.floor(newest.atMs / MERGED_MS) !== Math.floor(entry.atMs / MERGED_MS)) {
      this.#entries.push(entry);
    } else {
      this.#entries[this.#entries.length - 1] = { ...entry, bytes: newest.bytes + entry.bytes };
    }
  }

  /** The last sequence of which everything is that old, or older; 0: nothing is. */
  through(atMs: number): number {
    return this.#entries.findLast((entry) => entry.atMs <= atMs)?.sequence ?? 0;
  }

  /** The log begins behind this sequence from now on. */
  purged(through: number): void {
    const isGone = ({ sequence }: LedgerEntry): boolean => sequence <= through;
    for (const { bytes } of this.#entries.filter(isGone)) this.#bytes -= bytes;
    this.#entries = this.#entries.filter((entry) => !isGone(entry));
  }
}
