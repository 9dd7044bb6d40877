import { PlatformError } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { LogBatch, LogBroker, LogEntry } from '../ports/log-broker.port.js';

export interface SettleAppendTools {
  readonly broker: Pick<LogBroker, 'append' | 'readNext'>;
  readonly clock: Clock;
  readonly random: Random;
}

export type AppendSettlement =
  | { readonly kind: 'committed'; readonly sequence: number }
  /**
   * Another owner writes this log now, and its batch is the first behind the one before ours. Ours will never be there,
   * but may have been: that owner may have read it, gone on from it, and purged it since. So nobody is told that it
   * failed.
   */
  | { readonly kind: 'lost-to'; readonly entry: LogEntry }
  /** The shard has no room, and the batch is not in it, nor on its way. */
  | { readonly kind: 'full' }
  /** A fault of ours, which sending again would not change. */
  | { readonly kind: 'fault'; readonly reason: string }
  /** The signal came first: the batch is there, comes later, or never. */
  | { readonly kind: 'given-up' };

const PAUSE_MIN_MS = 20;
const PAUSE_MAX_MS = 200;

/**
 * Appends until it is known what became of the batch; never rejects. As long as nobody answers, the same bytes go out again with the same
 * expectation, of which the broker takes one at most. A leader that refuses them may do so because of the batch's own
 * earlier copy, so it is asked what lies behind the batch before. It is not asked while it says nothing: the next leader
 * takes the bytes sooner than it answers, and a thousand endpoints would ask at once.
 */
export async function settleAppend(
  { broker, clock, random }: SettleAppendTools,
  batch: LogBatch,
  { signal }: { readonly signal: AbortSignal },
): Promise<AppendSettlement> {
  let mayBeUnderWay = false;
  for (let pauseMs = PAUSE_MIN_MS; !signal.aborted; pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2)) {
    const outcome = await broker.append(batch);
    if (outcome.kind === 'stored') return { kind: 'committed', sequence: outcome.sequence };
    if (outcome.kind === 'fault') return outcome;
    if (outcome.kind === 'unknown') {
      mayBeUnderWay = true;
    } else {
      const place = await placeBehind(broker, batch);
      if (place.kind === 'fault') return place;
      if (place.kind === 'taken') return settledBy(place.entry, batch);
      if (outcome.kind === 'full' && place.kind === 'empty' && !mayBeUnderWay) return { kind: 'full' };
    }
    // Never quite together with those that failed at the same moment.
    await clock.sleep(PAUSE_MIN_MS + (pauseMs - PAUSE_MIN_MS) * random.fraction(), signal);
  }
  return { kind: 'given-up' };
}

type Place =
  | { readonly kind: 'taken'; readonly entry: LogEntry }
  | { readonly kind: 'empty' | 'unseen' }
  | { readonly kind: 'fault'; readonly reason: string };

async function placeBehind(broker: SettleAppendTools['broker'], { after, endpointId }: LogBatch): Promise<Place> {
  try {
    const entry = await broker.readNext(endpointId, after);
    return entry === null ? { kind: 'empty' } : { kind: 'taken', entry };
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'service-unavailable') return { kind: 'unseen' };
    return { kind: 'fault', reason: String(error) };
  }
}

const settledBy = (entry: LogEntry, { batchId }: LogBatch): AppendSettlement =>
  'batchId' in entry && entry.batchId === batchId
    ? { kind: 'committed', sequence: entry.sequence }
    : { kind: 'lost-to', entry };
