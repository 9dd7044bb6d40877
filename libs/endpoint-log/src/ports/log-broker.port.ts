import type { EndpointId } from '@berth/domain';

/**
 * The index beside a batch, so that an endpoint that nobody has open can be told of without reading its log. All of it
 * is as the batch leaves it.
 */
export interface LogIndex {
  /** When its owner must look again, Unix ms; null: nothing will ever be due. */
  readonly dueAtMs: number | null;
  readonly waitingNormal: number;
  readonly waitingLow: number;
  /** Among those that wait, the first instant of queueing, Unix ms; null where none waits. */
  readonly oldestQueuedAtMs: number | null;
  readonly running: number;
  readonly runningLow: number;
  /** Jobs that are not gone. */
  readonly living: number;
}

/** Facts of one endpoint that are written together, or not at all. */
export interface LogBatch {
  readonly endpointId: EndpointId;
  /** Sequence of the endpoint's batch before this one, which must still be its last; 0: there was none. */
  readonly after: number;
  /** No other batch of any writer has it: by it a writer knows its own copy. Letters, digits and hyphens. */
  readonly batchId: string;
  readonly index: LogIndex;
  /** UTF-8, a fact of JSON in each line; at most `BATCH_MAX_BYTES`. */
  readonly facts: Uint8Array;
}

/** A batch that the log holds. `sequence` is its place among all batches of the shard, of which other endpoints' lie between. */
export interface StoredBatch extends Omit<LogBatch, 'endpointId'> {
  readonly sequence: number;
}

/** A message in the place of a batch that is none that we could have written. */
interface UnreadableBatch {
  readonly sequence: number;
  readonly unreadable: string;
}

export type LogEntry = StoredBatch | UnreadableBatch;

export type AppendOutcome =
  | { readonly kind: 'stored'; readonly sequence: number }
  /** Another batch is the last one, or is about to be. While leaders change that may be our own earlier copy. */
  | { readonly kind: 'conflict' }
  /** The shard has no room. */
  | { readonly kind: 'full' }
  /** No answer, or one that does not say: stored or not, now or later. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** A fault of ours: it is no batch that anybody could read, and was not sent. */
  | { readonly kind: 'fault'; readonly reason: string };

/** The broker's knowledge of an endpoint without its log being read. */
export interface LogHead {
  readonly endpointId: EndpointId;
  /** Of the newest batch. */
  readonly sequence: number;
  /** Null: the newest message is no batch. */
  readonly index: LogIndex | null;
}

/**
 * The endpoints' logs, as their owners need them. Where it matters it speaks for the leader of the shard; only `read` and
 * `heads` may show an older view, which the compare-and-set of the next append finds out.
 */
export interface LogBroker {
  /** Sends the batch once. Never rejects: what is not known to be stored is an outcome. */
  append(batch: LogBatch): Promise<AppendOutcome>;
  /**
   * The first entry of the endpoint behind that sequence, as the shard's leader has it now.
   *
   * @throws PlatformError `service-unavailable` when no answer comes
   */
  readNext(endpointId: EndpointId, after: number): Promise<LogEntry | null>;
  /**
   * All entries of the endpoint behind that sequence, in order, maybe without the newest ones.
   *
   * @throws PlatformError `service-unavailable` when they do not come whole
   */
  read(endpointId: EndpointId, after: number): AsyncIterable<LogEntry>;
  /**
   * Removes the entries of the endpoint at that sequence and before it. Safe to repeat.
   *
   * @param through before its newest entry: an endpoint without any would take a late append that expects none
   * @throws PlatformError `service-unavailable` when no answer comes: the entries may go all the same, then or later
   */
  purge(endpointId: EndpointId, through: number): Promise<void>;
  /**
   * The newest entry of each endpoint of the shard, in no order.
   *
   * @throws PlatformError `service-unavailable` when they do not come whole
   */
  heads(shard: number): AsyncIterable<LogHead>;
}
