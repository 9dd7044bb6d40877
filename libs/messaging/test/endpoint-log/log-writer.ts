import type { EndpointId } from '@berth/domain';
import { settleAppend, type AppendOutcome, type LogBatch, type LogBroker, type LogEntry } from '@berth/endpoint-log';
import { systemClock, systemRandom } from '@berth/lifecycle';

/** What happened while batches were written. */
export interface StormCounts {
  committed: number;
  lost: number;
  sent: number;
  conflicts: number;
  /** Of the conflicts, those with the batch's own earlier copy. */
  conflictsWithOwn: number;
  /** Of the conflicts, those after which the place was empty: a write that came to nothing, or a leader that is behind. */
  conflictsWithNone: number;
  unknown: number;
  /** Of what was unknown, what turned out to be there when it was asked for. */
  unknownWasThere: number;
  unseen: number;
  readonly reasons: Map<string, number>;
}

export const newCounts = (): StormCounts => ({
  committed: 0,
  lost: 0,
  sent: 0,
  conflicts: 0,
  conflictsWithOwn: 0,
  conflictsWithNone: 0,
  unknown: 0,
  unknownWasThere: 0,
  unseen: 0,
  reasons: new Map(),
});

export interface Committed {
  readonly batchId: string;
  readonly sequence: number;
}

/** Beside a batch of an endpoint without jobs. */
export const QUIET = {
  dueAtMs: null,
  waitingNormal: 0,
  waitingLow: 0,
  oldestQueuedAtMs: null,
  running: 0,
  runningLow: 0,
  living: 0,
} as const;

/** One that appends to one endpoint as fast as it is told what became of the batch before. */
export class LogWriter {
  readonly committed: Committed[] = [];
  /** What others wrote where this one wanted to. */
  readonly lostTo: LogEntry[] = [];
  readonly endpointId: EndpointId;
  /** Longest time between two ends of a batch, in milliseconds. */
  longestGapMs = 0;
  readonly #name: string;
  readonly #log: LogBroker;
  readonly #counts: StormCounts;
  #after = 0;
  #batch: LogBatch | undefined;
  #outcome: AppendOutcome | undefined;

  constructor(options: { name: string; endpointId: EndpointId; log: LogBroker; counts: StormCounts }) {
    this.#name = options.name;
    this.endpointId = options.endpointId;
    this.#log = options.log;
    this.#counts = options.counts;
  }

  /** Writes until `stop`; what is under way then is settled all the same. False when that did not come about in time. */
  async run(stop: AbortSignal, patience: AbortSignal): Promise<boolean> {
    let endedAtMs = systemClock.monotonicMs();
    for (let nth = 0; !stop.aborted; nth += 1) {
      if (!(await this.#write(nth, patience))) return false;
      const nowMs = systemClock.monotonicMs();
      this.longestGapMs = Math.max(this.longestGapMs, nowMs - endedAtMs);
      endedAtMs = nowMs;
    }
    return true;
  }

  async #write(nth: number, signal: AbortSignal): Promise<boolean> {
    const batchId = `${this.#name}-${nth}`;
    const facts = new TextEncoder().encode(`{"batch":"${batchId}","text":"${'x'.repeat(nth % 2_000)}"}`);
    this.#batch = { endpointId: this.endpointId, after: this.#after, batchId, index: QUIET, facts };
    const settlement = await settleAppend(
      { broker: this.#counting(), clock: systemClock, random: systemRandom },
      this.#batch,
      { signal },
    );
    switch (settlement.kind) {
      case 'committed':
        this.#counts.committed += 1;
        this.committed.push({ batchId, sequence: settlement.sequence });
        this.#after = settlement.sequence;
        return true;
      case 'lost-to':
        this.#counts.lost += 1;
        this.lostTo.push(settlement.entry);
        this.#after = settlement.entry.sequence;
        return true;
      case 'full':
      case 'fault':
      case 'given-up':
        return false;
    }
  }

  #counting(): Pick<LogBroker, 'append' | 'readNext'> {
    return {
      append: async (batch) => {
        this.#counts.sent += 1;
        this.#outcome = await this.#log.append(batch);
        if (this.#outcome.kind === 'conflict') this.#counts.conflicts += 1;
        if (this.#outcome.kind === 'unknown') this.#countUnknown(this.#outcome.reason);
        return this.#outcome;
      },
      readNext: async (endpointId, after) => {
        try {
          const entry = await this.#log.readNext(endpointId, after);
          if (entry === null && this.#outcome?.kind === 'conflict') this.#counts.conflictsWithNone += 1;
          if (entry !== null && 'batchId' in entry && entry.batchId === this.#batch?.batchId) this.#countOwn();
          return entry;
        } catch (error) {
          this.#counts.unseen += 1;
          throw error;
        }
      },
    };
  }

  #countUnknown(reason: string): void {
    this.#counts.unknown += 1;
    this.#counts.reasons.set(reason, (this.#counts.reasons.get(reason) ?? 0) + 1);
  }

  #countOwn(): void {
    if (this.#outcome?.kind === 'conflict') this.#counts.conflictsWithOwn += 1;
    else this.#counts.unknownWasThere += 1;
  }
}
