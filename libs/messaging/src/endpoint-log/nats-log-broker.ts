import { PlatformError, type EndpointId, type UnreadableMessage } from '@berth/domain';
import type { AppendOutcome, LogBatch, LogBroker, LogEntry, LogHead } from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { askLeader } from '../broker/ask-leader.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { purgeBefore, removeMessage } from '../broker/remove-messages.js';
import type { TailMessage } from '../broker/tail-session.js';
import { scanStream } from '../broker/scan-stream.js';
import { logShard } from '../topology/shards.js';
import { logFilter, logStream, logSubject, parseLogSubject } from '../topology/subjects.js';
import { batchHeaders, readLogFormat, readLogIndex, readLogMessage } from './log-batch-codec.js';
import { readLogPage } from './read-log-page.js';
import { sendOnce } from './send-once.js';

export interface NatsLogBrokerOptions {
  readonly broker: Broker;
  readonly clock: Clock;
}

/** An entry from the outside. */
export interface InspectedEntry {
  readonly entry: LogEntry;
  /** Of its body. */
  readonly bytes: number;
  /** Null: it is not even a batch of another format. */
  readonly format: number | null;
}

/**
 * How long one answer of the log's brokers is worth waiting for, as the `timeoutMs` of their connection. A question to
 * a leader that died is never answered, and a router that waits for the answer does not ask the next one.
 */
export const LOG_ANSWER_MS = 1_500;

const PLACE = 'endpoint log';

/** The logs on JetStream: one stream for each shard, one subject for each endpoint, one message for each batch. */
export class NatsLogBroker implements LogBroker {
  readonly #broker: Broker;
  readonly #clock: Clock;

  constructor({ broker, clock }: NatsLogBrokerOptions) {
    this.#broker = broker;
    this.#clock = clock;
  }

  append(batch: LogBatch): Promise<AppendOutcome> {
    let sending;
    try {
      sending = { subject: logSubject(batch.endpointId), headers: batchHeaders(batch) };
    } catch (error) {
      return Promise.resolve({ kind: 'fault', reason: String(error) });
    }
    return sendOnce(this.#broker, { ...sending, body: batch.facts, expectedSequence: batch.after });
  }

  async readNext(endpointId: EndpointId, after: number): Promise<LogEntry | null> {
    const subject = logSubject(endpointId);
    const question = { seq: after + 1, next_by_subj: subject };
    const message = await askLeader(this.#broker, logStream(logShard(endpointId)), question);
    return message === null ? null : this.#noted(subject, readLogMessage(message));
  }

  async *read(endpointId: EndpointId, after: number): AsyncGenerator<LogEntry> {
    const subject = logSubject(endpointId);
    const stream = logStream(logShard(endpointId));
    let last = after;
    for (;;) {
      const { entries, isLast } = await readLogPage(this.#broker, { stream, subject, after: last });
      for (const entry of entries) {
        last = entry.sequence;
        yield this.#noted(subject, entry);
      }
      if (isLast) return;
    }
  }

  async purge(endpointId: EndpointId, through: number): Promise<void> {
    const stream = logStream(logShard(endpointId));
    await purgeBefore(this.#broker, stream, { filter: logSubject(endpointId), sequence: through + 1 });
  }

  /**
   * One entry as the shard's leader has it now, and what can be told of it where it is no batch to this process. Null: that
   * sequence is none of the endpoint's.
   *
   * @throws PlatformError `service-unavailable` when no answer comes
   */
  async inspect(endpointId: EndpointId, sequence: number): Promise<InspectedEntry | null> {
    const question = { seq: sequence, next_by_subj: logSubject(endpointId) };
    const message = await askLeader(this.#broker, logStream(logShard(endpointId)), question);
    if (message?.sequence !== sequence) return null;
    return { entry: readLogMessage(message), bytes: message.body.length, format: readLogFormat(message.headers) };
  }

  /**
   * Removes one entry of the endpoint: at an operator's word, no owner does it. Of the last one nothing stays that an owner
   * could stumble upon: the one before it is what the next append has to expect, as if the removed one had never been.
   *
   * @throws RangeError when that sequence is none of the endpoint's: a shard's endpoints share them
   * @throws PlatformError `service-unavailable` when no answer comes: it may be gone all the same
   */
  async removeEntry(endpointId: EndpointId, sequence: number): Promise<void> {
    const inspected = await this.inspect(endpointId, sequence);
    if (inspected === null) throw new RangeError(`${sequence} is no batch of ${endpointId}`);
    await removeMessage(this.#broker, logStream(logShard(endpointId)), sequence);
  }

  async *heads(shard: number): AsyncGenerator<LogHead> {
    const heads: LogHead[] = [];
    const onMessage = ({ headers, sequence, subject }: TailMessage): void => {
      const endpointId = parseLogSubject(subject);
      if (endpointId === null) this.#note(subject, 'its subject names no endpoint of the shard');
      else heads.push({ endpointId, sequence, index: readLogIndex(headers) });
    };
    await scanStream({
      broker: this.#broker,
      clock: this.#clock,
      stream: logStream(shard),
      filter: logFilter(shard),
      what: 'last-of-each-subject',
      onMessage,
    }).catch((error: unknown) => {
      // A stream that moves refuses a reader in many words, all of which pass.
      throw error instanceof PlatformError ? error : brokerUnavailable(error);
    });
    yield* heads;
  }

  #noted(subject: string, entry: LogEntry): LogEntry {
    if ('unreadable' in entry) this.#note(`${subject} ${entry.sequence}`, entry.unreadable);
    return entry;
  }

  #note(key: UnreadableMessage['key'], reason: string): void {
    this.#broker.noteUnreadable({ place: PLACE, key, reason });
  }
}
