import type { EndpointId, LogFact } from '@berth/domain';
import { decodeLines } from '@berth/endpoint-log';

interface Kept {
  readonly bytes: number;
  /** As they were written, until somebody asks for them. */
  facts: Uint8Array | readonly LogFact[];
}

/** Text in memory takes up to two bytes a character, whatever it takes when it is written. */
const BYTES_IN_MEMORY = 2;

/** Batches that were written or read lately, up to a number of bytes; the one that was not asked for the longest goes. */
export class RecentBatches {
  readonly #maxBytes: number;
  /** By name, the one that was asked for last at the end. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(endpointId: EndpointId, sequence: number): readonly LogFact[] | undefined {
    const name = nameOf(endpointId, sequence);
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const facts = kept.facts instanceof Uint8Array ? decodeLines(kept.facts) : kept.facts;
    kept.facts = facts;
    return facts;
  }

  /** @param batch its facts, and how many bytes they have in the log */
  put(endpointId: EndpointId, sequence: number, { bytes, facts }: Kept): void {
    const name = nameOf(endpointId, sequence);
    this.#drop(name);
    const kept = { bytes: BYTES_IN_MEMORY * bytes, facts };
    this.#kept.set(name, kept);
    this.#bytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    this.#kept.delete(name);
    this.#bytes -= kept.bytes;
  }
}

const nameOf = (endpointId: EndpointId, sequence: number): string => `${endpointId} ${sequence}`;
