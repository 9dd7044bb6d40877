import {
  OWNER_QUESTION_SHAPES,
  ROUTER_INBOX,
  ownerSubjects,
  replyFault,
  type OwnerReply,
  type OwnerVerb,
  type QuestionOf,
} from '@berth/contracts';
import { readShape, unreadable, type Reading } from '@berth/domain/shape';
import type { EndpointId, UnreadableMessage } from '@berth/domain';
import { atEndOfTurn, type Clock } from '@berth/lifecycle';
import { encodeOwnerReply, logShard, readOwnerQuestion } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { OwnerMetrics } from './metrics.js';
import type { OwnerDesk } from './owner-desk.js';
import { QuestionsInFlight } from './questions-in-flight.js';

export interface OwnerServerOptions {
  readonly desk: Pick<OwnerDesk, 'answer'>;
  readonly connection: NatsConnection;
  readonly clock: Clock;
  readonly metrics: OwnerMetrics;
  readonly logger: Logger;
  /** Told of every message that is no question. */
  readonly onUnreadable: (message: UnreadableMessage) => void;
}

/** A question and its asker. */
interface RoutedQuestion {
  readonly endpointId: EndpointId;
  readonly verb: OwnerVerb;
  readonly question: QuestionOf<OwnerVerb>;
  readonly reply: string;
}

/** Questions of one router that are under way at one time; takes are held, so they are counted by themselves. */
const QUESTIONS_MAX = 8_192;
const TAKES_MAX = 16_384;
/** Answers that are under way when the router stops have this long. */
const DRAIN_MS = 2_000;
const POLL_MS = 20;
const SHOWN_CHARACTERS_MAX = 100;

const encoder = new TextEncoder();
const BUSY = encoder.encode(encodeOwnerReply({ kind: 'refused', reason: 'busy' }));

/**
 * Hears what other routers ask the owner of a shard, by plain subscriptions: every router that believes to own the shard
 * hears it, and who does not know stays silent. An answer goes below the inboxes of routers and nowhere else.
 */
export class OwnerServer {
  readonly #options: OwnerServerOptions;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #questions = new QuestionsInFlight(QUESTIONS_MAX);
  readonly #takes = new QuestionsInFlight(TAKES_MAX);

  constructor(options: OwnerServerOptions) {
    this.#options = options;
  }

  /** Questions that are under way. */
  get inFlight(): number {
    return this.#questions.size + this.#takes.size;
  }

  /** The shard is this router's. Again is the same as once. */
  serve(shard: number): void {
    const { connection, logger } = this.#options;
    if (this.#subscriptions.has(shard) || connection.isClosed()) return;
    const callback = (error: Error | null, message: Msg): void => {
      if (error === null) this.#hear(shard, message);
      else logger.error(`the subscription to questions of shard ${shard} failed`, { error });
    };
    this.#subscriptions.set(shard, connection.subscribe(ownerSubjects(shard), { callback }));
  }

  /** It is not any more. Questions under way are answered where it is known what to say. */
  leave(shard: number): void {
    this.#subscriptions.get(shard)?.unsubscribe();
    this.#subscriptions.delete(shard);
  }

  /** Hears nothing more, and resolves when everything that was heard has been answered, or should have been. */
  async stop(): Promise<void> {
    const { clock } = this.#options;
    for (const shard of [...this.#subscriptions.keys()]) this.leave(shard);
    const untilMs = clock.monotonicMs() + DRAIN_MS;
    while (this.inFlight > 0 && clock.monotonicMs() < untilMs) await clock.sleep(POLL_MS);
  }

  /** Within the client's reading loop, which whatever is thrown here would end. */
  #hear(shard: number, message: Msg): void {
    const reading = this.#read(shard, message);
    if (reading.kind === 'unreadable') {
      this.#count(verbOf(message.subject) ?? 'none', 'unreadable');
      const key = message.subject.slice(0, SHOWN_CHARACTERS_MAX);
      this.#options.onUnreadable({ place: 'owner questions', key, reason: reading.reason });
      return;
    }
    const { reply, verb } = reading.value;
    const end = (verb === 'take' ? this.#takes : this.#questions).begin(peerOf(reply));
    if (end === null) this.#send(reading.value, BUSY, 'crowded');
    else void this.#answer(reading.value).finally(end);
  }

  #read(shard: number, { data, reply, subject }: Msg): Reading<RoutedQuestion> {
    const fault = replyFault(reply, ROUTER_INBOX);
    if (fault !== null || reply === undefined) return unreadable(`its answer may not go there: ${fault ?? 'none'}`);
    const verb = verbOf(subject);
    if (verb === null) return unreadable('nobody knows such a question');
    const frame = readOwnerQuestion(data);
    if (frame.kind === 'unreadable') return frame;
    const { endpointId } = frame.value;
    if (logShard(endpointId) !== shard) return unreadable('its endpoint is of another shard');
    const question = readShape<QuestionOf<OwnerVerb>>(OWNER_QUESTION_SHAPES[verb], frame.value.question);
    if (question.kind === 'unreadable') return question;
    return { kind: 'value', value: { endpointId, verb, question: question.value, reply } };
  }

  /** Never rejects. */
  async #answer(asked: RoutedQuestion): Promise<void> {
    const { clock, desk, logger, metrics } = this.#options;
    const { endpointId, question, verb } = asked;
    const beganAtMs = clock.monotonicMs();
    try {
      const said = await desk.answer(endpointId, verb, question);
      if (verb !== 'take') metrics.answerSeconds.observe({ verb }, (clock.monotonicMs() - beganAtMs) / 1_000);
      if (said === 'silent') this.#count(verb, 'silent');
      else this.#tell(asked, said);
    } catch (error) {
      this.#count(verb, 'failed');
      logger.error('a question to the owner of a log could not be answered', { endpointId, verb, error });
    }
  }

  #tell(asked: RoutedQuestion, reply: OwnerReply<unknown>): void {
    const body = encoder.encode(encodeOwnerReply(reply));
    const maxBytes = this.#options.connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (body.byteLength <= maxBytes) {
      this.#send(asked, body, reply.kind === 'answer' ? 'answered' : reply.reason);
      return;
    }
    const { endpointId, verb } = asked;
    const bytes = body.byteLength;
    this.#options.logger.error('an answer is too large for the broker', { endpointId, verb, bytes, maxBytes });
    this.#send(asked, BUSY, 'too-large');
  }

  /** Answers of one turn of the event loop leave together. */
  #send({ endpointId, reply, verb }: RoutedQuestion, body: Uint8Array, outcome: string): void {
    const { connection, logger } = this.#options;
    this.#count(verb, outcome);
    atEndOfTurn(() => {
      try {
        connection.publish(reply, body);
      } catch (error) {
        // The connection is closed: the asking router asks again.
        logger.debug('an answer could not be sent', { endpointId, verb, error });
      }
    });
  }

  #count(verb: OwnerVerb | 'none', outcome: string): void {
    this.#options.metrics.answers.inc({ verb, outcome });
  }
}

function verbOf(subject: string): OwnerVerb | null {
  const verb = subject.slice(subject.lastIndexOf('.') + 1);
  return Object.hasOwn(OWNER_QUESTION_SHAPES, verb) ? (verb as OwnerVerb) : null;
}

/** Each router asks below an inbox of its own. */
const peerOf = (reply: string): string => reply.split('.', 2).join('.');
