import { applyFact, newEndpointState, type EndpointId, type EndpointState } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { decodeLines } from '../batch/fact-lines.js';
import type { LogBroker, LogEntry, StoredBatch } from '../ports/log-broker.port.js';
import { LogLedger } from '../carrying/log-ledger.js';
import type { ReadLog } from '../commit/open-log.js';

export type LogReading = ReadLog & { readonly kind: 'read' };

/** The log says what no owner could have written, so nobody may go on with it until somebody has looked. */
export interface BrokenLog {
  readonly kind: 'broken';
  readonly sequence: number;
  readonly reason: string;
}

export interface LogSource {
  readonly endpointId: EndpointId;
  readonly broker: LogBroker;
  readonly clock: Clock;
  /** Calls `run` when this turn of the event loop is over. */
  readonly atEndOfTurn: (run: () => void) => void;
}

/** How long one turn of the event loop is spent on one log. */
const SLICE_MS = 5;

/**
 * Readings of a log that somebody carries at the same time: its beginning went between two pages, or it is gone already
 * and what was carried of it is not in view yet.
 */
const READINGS_MAX = 8;
/** Before the next reading, times how many there were. */
const NEXT_READING_MS = 100;

/**
 * Reads the log from whatever is first. It may be an older view: then the append that opens it meets a conflict.
 *
 * @throws PlatformError `service-unavailable` when the broker does not answer
 */
export async function readLog(source: LogSource): Promise<LogReading | BrokenLog> {
  let reading = await readOnce(source);
  for (let readings = 1; reading.kind === 'gap' && readings < READINGS_MAX; readings += 1) {
    await source.clock.sleep(NEXT_READING_MS * readings);
    reading = await readOnce(source);
  }
  return reading.kind === 'gap' ? { ...reading, kind: 'broken' } : reading;
}

/** What may be an older view of some of its pages. */
interface Gap extends Omit<BrokenLog, 'kind'> {
  readonly kind: 'gap';
}

async function readOnce({ atEndOfTurn, broker, clock, endpointId }: LogSource): Promise<LogReading | BrokenLog | Gap> {
  let replay: Replay | null = null;
  let sliceEndsMs = clock.monotonicMs() + SLICE_MS;
  for await (const entry of broker.read(endpointId, 0)) {
    replay ??= new Replay('after' in entry ? entry.after : 0);
    const fault = replay.apply(entry);
    if (fault !== null) return fault;
    if (clock.monotonicMs() < sliceEndsMs) continue;
    await new Promise<void>(atEndOfTurn);
    sliceEndsMs = clock.monotonicMs() + SLICE_MS;
  }
  return (replay ?? new Replay(0)).result();
}

/** Brings one batch after the other into a state. */
class Replay {
  readonly #state: EndpointState;
  readonly #ledger = new LogLedger();
  #last: number;

  constructor(after: number) {
    this.#state = newEndpointState(after);
    this.#last = after;
  }

  apply(entry: LogEntry): BrokenLog | Gap | null {
    const { sequence } = entry;
    if ('unreadable' in entry) return { kind: 'broken', sequence, reason: entry.unreadable };
    if (entry.after !== this.#last) return { kind: 'gap', sequence, reason: 'the batch before it is not in the log' };
    const reason = this.#applyFacts(entry);
    if (reason !== null) return { kind: 'broken', sequence, reason };
    this.#last = sequence;
    this.#ledger.add({ sequence, atMs: this.#state.lastAtMs, bytes: entry.facts.byteLength });
    return null;
  }

  result(): LogReading | Gap {
    if (this.#state.isWhole) return { kind: 'read', state: this.#state, last: this.#last, ledger: this.#ledger };
    return { kind: 'gap', sequence: this.#last, reason: 'its beginning is gone, and was not carried' };
  }

  /** A fact that lacks members may do anything when it is applied; the state is dropped then, so that does not matter. */
  #applyFacts({ facts, sequence }: StoredBatch): string | null {
    const place = { sequence };
    try {
      for (const fact of decodeLines(facts)) {
        const applied = applyFact(this.#state, fact, place);
        if (applied.kind === 'illegal') return `${fact.kind} is illegal: ${applied.why}`;
      }
      return null;
    } catch (error) {
      return `it cannot be applied: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}
