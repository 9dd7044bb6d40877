import {
  LEGAL_FACTS,
  PlatformError,
  applyFact,
  newEndpointState,
  type EndpointId,
  type EndpointState,
  type Illegality,
  type LogFact,
  type TouchedJob,
} from '@berth/domain';
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
  /** The fact that cannot be; absent: the batch as a whole cannot be read. */
  readonly fact?: FactFault;
}

/** A fact that cannot be applied. */
interface FactFault {
  /** Its line in the batch, from 1. */
  readonly line: number;
  /** Null: it is not even a fact of which that could be said. */
  readonly why: Illegality | null;
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
 * Reads the log from whatever is first. It may be an older view: then the append that opens it meets a conflict. However
 * often a gap is seen, a replica may be that far behind: the log is broken only where its leader has the gap, too, each time,
 * since a leader that is none any more may answer once.
 *
 * @throws PlatformError `service-unavailable` when the broker does not answer, or shows nothing but views with gaps
 */
export async function readLog(source: LogSource): Promise<LogReading | BrokenLog> {
  let isProven = true;
  for (let readings = 1; ; readings += 1) {
    const reading = await readOnce(source);
    if (reading.kind !== 'gap') return reading;
    isProven &&= await isAtLeader(source, reading);
    if (readings === READINGS_MAX) return concluded(reading, isProven);
    await source.clock.sleep(NEXT_READING_MS * readings);
  }
}

/** A gap, which may be an older view of some of the log's pages. */
interface Gap {
  readonly kind: 'gap';
  /** The entry before the gap. */
  readonly last: number;
  /** The entry behind it; null: there is none. */
  readonly next: number | null;
  readonly reason: string;
}

/** Whether the leader has the entry before the gap, and directly behind it the same one. */
async function isAtLeader({ broker, endpointId }: LogSource, { last, next }: Gap): Promise<boolean> {
  const before = await broker.readNext(endpointId, last - 1);
  const behind = await broker.readNext(endpointId, last);
  return before?.sequence === last && (behind?.sequence ?? null) === next;
}

function concluded({ last, next, reason }: Gap, isProven: boolean): BrokenLog {
  if (isProven) return { kind: 'broken', sequence: next ?? last, reason };
  throw new PlatformError('service-unavailable', `The log is shown with a gap behind ${last} that its leader has not.`);
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

/** Told of the jobs that the fact in that line has touched; lines count from 1. */
type OnTouched = (line: number, touched: readonly TouchedJob[]) => void;

/** Brings one batch after the other into a state. After a fault it is of no more use. */
export class Replay {
  readonly state: EndpointState;
  readonly #ledger = new LogLedger();
  #last: number;

  /** @param after what the first batch names as the one before it */
  constructor(after: number) {
    this.state = newEndpointState(after);
    this.#last = after;
  }

  apply(entry: LogEntry, onTouched: OnTouched = () => undefined): BrokenLog | Gap | null {
    const { sequence } = entry;
    if ('unreadable' in entry) return { kind: 'broken', sequence, reason: entry.unreadable };
    if (entry.after !== this.#last) {
      return { kind: 'gap', last: this.#last, next: sequence, reason: 'the batch before it is not in the log' };
    }
    const fault = this.#applyFacts(entry, onTouched);
    if (fault !== null) return fault;
    this.#last = sequence;
    this.#ledger.add({ sequence, atMs: this.state.lastAtMs, bytes: entry.facts.byteLength });
    return null;
  }

  result(): LogReading | Gap {
    if (this.state.isWhole) return { kind: 'read', state: this.state, last: this.#last, ledger: this.#ledger };
    return { kind: 'gap', last: this.#last, next: null, reason: 'its beginning is gone, and was not carried' };
  }

  /** A fact that lacks members may do anything when it is applied; the state is dropped then, so that does not matter. */
  #applyFacts({ facts, sequence }: StoredBatch, onTouched: OnTouched): BrokenLog | null {
    const place = { sequence };
    let line = 0;
    try {
      for (const fact of factsOf(facts)) {
        line += 1;
        const applied = applyFact(this.state, fact, place);
        if (applied.kind === 'illegal') {
          const { why } = applied;
          return { kind: 'broken', sequence, reason: `${nameOf(fact)} is illegal: ${why}`, fact: { line, why } };
        }
        if (applied.kind === 'applied' && applied.touched.length > 0) onTouched(line, applied.touched);
      }
      return null;
    } catch (error) {
      const reason = `it cannot be applied: ${error instanceof UndecodableError ? error.message : classOf(error)}`;
      return { kind: 'broken', sequence, reason, ...(line > 0 && { fact: { line, why: null } }) };
    }
  }
}

/** Its message says at which line, and nothing of it. */
class UndecodableError extends Error {}

function factsOf(facts: Uint8Array): readonly LogFact[] {
  try {
    return decodeLines(facts);
  } catch (error) {
    throw new UndecodableError(error instanceof Error ? error.message : 'it is no text', { cause: error });
  }
}

/**
 * The error that a fact without its members brings about may quote what a tenant wrote, and this ends in logs and
 * alarms.
 */
const classOf = (error: unknown): string => (error instanceof Error ? error.constructor.name : typeof error);

/** A word of ours. A fact of any other kind was not written by an owner. */
const nameOf = ({ kind }: LogFact): string => (KINDS.has(kind) ? kind : 'a fact of a kind that nobody knows');

const KINDS: ReadonlySet<string> = new Set(Object.values(LEGAL_FACTS).flat());
