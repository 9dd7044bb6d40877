import type { EndpointId } from '@berth/domain';
import type { AppendOutcome, LogBatch, LogBroker, LogEntry, LogHead, StoredBatch } from '@berth/endpoint-log';

/** What lies in a subject, and which change of it put it there, from 1. */
interface Kept {
  readonly entry: LogEntry;
  readonly change: number;
}

interface Purge {
  readonly through: number;
  readonly change: number;
}

/** One subject with all that ever happened to it, so that any older view of it can be shown. */
interface Subject {
  readonly kept: Kept[];
  readonly purges: Purge[];
  changes: number;
}

/** A batch that has just become part of an endpoint's log. */
export type OnStored = (endpointId: EndpointId, batch: StoredBatch) => void;

/** The subjects of one shard, as their leader keeps them: nothing fails here, and nothing that was purged is forgotten. */
export class ModelLogBroker implements LogBroker {
  readonly #subjects = new Map<EndpointId, Subject>();
  readonly #onStored: OnStored;
  #sequence = 0;
  /** Bytes of facts by which the shard may grow. */
  #roomBytes = Number.POSITIVE_INFINITY;
  /** Doctored: batches are stored whatever they expect. */
  comparesNothing = false;

  constructor(onStored: OnStored = () => undefined) {
    this.#onStored = onStored;
  }

  /** Other endpoints' batches take sequences, too. */
  skipSequences(count: number): void {
    this.#sequence += count;
  }

  /** @param bytes null: no bound */
  leaveRoom(bytes: number | null): void {
    this.#roomBytes = bytes ?? Number.POSITIVE_INFINITY;
  }

  store({ endpointId, ...batch }: LogBatch): AppendOutcome {
    if (this.lastSequence(endpointId) !== batch.after && !this.comparesNothing) return { kind: 'conflict' };
    if (batch.facts.byteLength > this.#roomBytes) return { kind: 'full' };
    this.#roomBytes -= batch.facts.byteLength;
    const stored = { ...batch, sequence: this.#sequence + 1, facts: batch.facts.slice() };
    this.#keep(endpointId, stored);
    this.#onStored(endpointId, stored);
    return { kind: 'stored', sequence: stored.sequence };
  }

  /** A message that is no batch, as somebody else would put it there. Returns where it lies. */
  putGarbage(endpointId: EndpointId): number {
    this.#keep(endpointId, { sequence: this.#sequence + 1, unreadable: 'no batch' });
    return this.#sequence;
  }

  remove(endpointId: EndpointId, through: number): void {
    const subject = this.#subject(endpointId);
    for (const entry of this.view(endpointId)) {
      if (entry.sequence <= through && 'facts' in entry) this.#roomBytes += entry.facts.byteLength;
    }
    subject.changes += 1;
    subject.purges.push({ through, change: subject.changes });
  }

  /** What a replica shows that lags behind by some changes: everything as it was then, what is purged by now included. */
  view(endpointId: EndpointId, lag = 0): readonly LogEntry[] {
    const { changes, kept, purges } = this.#subject(endpointId);
    const seen = changes - lag;
    const isThere = ({ change, entry }: Kept): boolean =>
      change <= seen &&
      !purges.some((purge) => purge.change <= seen && purge.change > change && purge.through >= entry.sequence);
    return kept.filter(isThere).map(({ entry }) => entry);
  }

  /** Everything that there ever was. */
  history(endpointId: EndpointId): readonly LogEntry[] {
    return this.#subject(endpointId).kept.map(({ entry }) => entry);
  }

  lastSequence(endpointId: EndpointId): number {
    return this.view(endpointId).at(-1)?.sequence ?? 0;
  }

  /** The same logs, of which nothing was ever purged. */
  unpurged(): LogBroker {
    const broker = new ModelLogBroker();
    for (const [endpointId, subject] of this.#subjects) broker.#subjects.set(endpointId, { ...subject, purges: [] });
    return broker;
  }

  // --- The port ------------------------------------------------------------------------------------------------------

  append(batch: LogBatch): Promise<AppendOutcome> {
    return Promise.resolve(this.store(batch));
  }

  readNext(endpointId: EndpointId, after: number): Promise<LogEntry | null> {
    return Promise.resolve(this.view(endpointId).find(({ sequence }) => sequence > after) ?? null);
  }

  async *read(endpointId: EndpointId, after: number): AsyncGenerator<LogEntry> {
    yield* this.view(endpointId).filter(({ sequence }) => sequence > after);
  }

  purge(endpointId: EndpointId, through: number): Promise<void> {
    this.remove(endpointId, through);
    return Promise.resolve();
  }

  async *heads(): AsyncGenerator<LogHead> {
    yield* this.headsNow();
  }

  headsNow(lag = 0): readonly LogHead[] {
    return [...this.#subjects.keys()].flatMap((endpointId) => {
      const newest = this.view(endpointId, lag).at(-1);
      if (newest === undefined) return [];
      return [{ endpointId, sequence: newest.sequence, index: 'index' in newest ? newest.index : null }];
    });
  }

  #keep(endpointId: EndpointId, entry: LogEntry): void {
    const subject = this.#subject(endpointId);
    this.#sequence = entry.sequence;
    subject.changes += 1;
    subject.kept.push({ entry, change: subject.changes });
  }

  #subject(endpointId: EndpointId): Subject {
    let subject = this.#subjects.get(endpointId);
    if (subject === undefined) {
      subject = { kept: [], purges: [], changes: 0 };
      this.#subjects.set(endpointId, subject);
    }
    return subject;
  }
}
