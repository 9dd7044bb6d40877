import type { EndpointId, JobKey } from '@berth/domain';
import type { LeaseKey, QueuedTicket, Ticket, Tickets } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable, unexpectedAnswer } from '../broker/broker-errors.js';
import { publishMessage } from '../broker/publish-message.js';
import { readDirect, readPage, type StoredMessage } from '../broker/read-message.js';
import { purgeSubject, removeMessage } from '../broker/remove-messages.js';
import { ENDPOINT_SHARDS } from '../topology/shards.js';
import {
  STREAMS,
  parseTicketSubject,
  priorityToken,
  ticketFilter,
  ticketStream,
  ticketSubject,
} from '../topology/subjects.js';
import { encodeTicket, readTicket } from './ticket-codec.js';
import { walkTickets } from './walk-tickets.js';

/** One ticket that waits, without its content. */
export interface WaitingTicket extends LeaseKey {
  readonly isLowPriority: boolean;
}

/** Tickets in one page of a survey: a few milliseconds of the broker and of this process. */
const SURVEY_PAGE = 512;

interface StreamInfo {
  readonly state: { readonly last_seq: number };
}

/** Tickets as messages of unsynced streams: one per job and attempt, read in order, never consumed. */
export class JetStreamTickets implements Tickets {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async put(ticket: Ticket, ttlMs: number): Promise<void> {
    const outcome = await publishMessage(this.#broker, {
      subject: ticketSubject(ticket, priorityToken(ticket.isLowPriority)),
      body: encodeTicket(ticket),
      ttlMs,
    });
    if (outcome.kind === 'unknown') throw brokerUnavailable(outcome.cause);
  }

  /** A ticket is a hint, so one that cannot be read is removed: a job that waits without one is given another. */
  async list(query: Parameters<Tickets['list']>[0]): Promise<readonly QueuedTicket[]> {
    const { endpointId, isLowPriority, limit } = query;
    const filter = ticketFilter(endpointId, priorityToken(isLowPriority));
    const found: QueuedTicket[] = [];
    let { afterSequence } = query;
    for (;;) {
      const walk = { stream: STREAMS.tickets(endpointId), filter, afterSequence, limit: limit - found.length };
      const messages = await walkTickets(this.#broker, walk);
      for (const message of messages) {
        const reading = readTicket(message);
        if (reading.kind === 'value') found.push(reading.value);
        else await this.#removeUnreadable(endpointId, message, reading.reason);
      }
      if (messages.length < walk.limit || found.length === limit) return found;
      afterSequence = messages.at(-1)?.sequence ?? afterSequence;
    }
  }

  async #removeUnreadable(endpointId: EndpointId, { sequence, subject }: StoredMessage, reason: string): Promise<void> {
    this.#broker.noteUnreadable({ place: 'tickets', key: subject, reason });
    await removeMessage(this.#broker, STREAMS.tickets(endpointId), sequence);
  }

  /** Of the whole stream, which other endpoints share: a bound, at the cost of one question. */
  async lastSequence(endpointId: EndpointId): Promise<number> {
    const stream = STREAMS.tickets(endpointId);
    const { error, state } = await this.#broker.ask<StreamInfo>(`$JS.API.STREAM.INFO.${stream}`, '');
    if (error !== undefined) throw unexpectedAnswer(`read the end of ${stream}`, error);
    return state.last_seq;
  }

  async remove({ ticket, sequence }: QueuedTicket): Promise<void> {
    await removeMessage(this.#broker, STREAMS.tickets(ticket.endpointId), sequence);
  }

  /**
   * A purge of the exact subject: one question, where looking up the sequence and deleting it are two. Measured with
   * 32 in flight: 0.06 ms against 0.10 ms among 150,000 tickets, and equal among 1,000.
   */
  async removeFor({ endpointId, jobId }: JobKey, attempt: number, isLowPriority: boolean): Promise<void> {
    const subject = ticketSubject({ endpointId, jobId, attempt }, priorityToken(isLowPriority));
    await purgeSubject(this.#broker, STREAMS.tickets(endpointId), subject);
  }

  /** Whether the ticket of one attempt waits, as some replica has it. */
  async has({ endpointId, jobId, attempt, isLowPriority }: WaitingTicket): Promise<boolean> {
    const subject = ticketSubject({ endpointId, jobId, attempt }, priorityToken(isLowPriority));
    return (await readDirect(this.#broker, STREAMS.tickets(endpointId), { last: subject })) !== null;
  }

  /**
   * Every ticket that waits, of all endpoints, for maintenance, page by page: a list of a stream's subjects would hold
   * the stream still while the broker makes it, and this process while it reads it. One that comes or goes in between
   * may be missed or told though gone.
   */
  async *allAttempts(): AsyncGenerator<WaitingTicket> {
    for (let shard = 0; shard < ENDPOINT_SHARDS; shard += 1) yield* this.#attemptsIn(ticketStream(shard));
  }

  async *#attemptsIn(stream: string): AsyncGenerator<WaitingTicket> {
    for (let from = 1; ;) {
      const { messages, isLast } = await readPage(this.#broker, stream, { from, batch: SURVEY_PAGE });
      for (const { subject } of messages) {
        const ticket = parseTicketSubject(subject);
        if (ticket !== null) yield ticket;
      }
      const last = messages.at(-1);
      if (isLast || last === undefined) return;
      from = last.sequence + 1;
    }
  }
}
