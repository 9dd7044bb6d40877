import { PlatformError, type EndpointId, type UnreadableMessage } from '@berth/domain';
import type { AppendOutcome, LogBatch, LogBroker, LogEntry, LogHead } from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { askLeader } from '../broker/ask-leader.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { purgeBefore } from '../broker/remove-messages.js';
import type { TailMessage } from '../broker/tail-session.js';
import { tellStream } from '../broker/tell-stream.js';
import { logShard } from '../topology/shards.js';
import { logFilter, logStream, logSubject, parseLogSubject } from '../topology/subjects.js';
import { batchHeaders, readLogIndex, readLogMessage } from './log-batch-codec.js';
import { readLogPage } from './read-log-page.js';
import { sendOnce } from './send-once.js';

export interface NatsLogBrokerOptions {
  readonly broker: Broker;
  readonly clock: Clock;
}

/**
 * How long one answer of the log's brokers is worth waiting for, as the `timeoutMs` of their connection. What was sent to a
 * leader that died is never answered, and who waits for it does not ask the next one.
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

  async *heads(shard: number): AsyncGenerator<LogHead> {
    const heads: LogHead[] = [];
    const onMessage = ({ headers, sequence, subject }: TailMessage): void => {
      const endpointId = parseLogSubject(subject);
      if (endpointId === null) this.#note(subject, 'its subject names no endpoint of the shard');
      else heads.push({ endpointId, sequence, index: readLogIndex(headers) });
    };
    await tellStream({
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
