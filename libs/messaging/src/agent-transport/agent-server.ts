import {
  ROUTER_INBOX,
  TRACEPARENT_HEADER,
  hostOfSubject,
  inboxPrefix,
  isAgentSubject,
  type ReplyFault,
} from '@berth/contracts';
import { PlatformError, type AskingFault } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { loggedTrace, runWithLogContext, type LogContext, type Logger } from '@berth/telemetry';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { NatsContext, Server, Transport, type CustomTransportStrategy } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { watchConnection } from '../connection-watch.js';
import { ConfirmedReply, reachesNobody } from './confirmed-reply.js';
import { HostQuestions } from './host-questions.js';
import { PartedReply } from './parted-reply.js';
import { questionLimit } from './question-limits.js';
import { RefusedReplies } from './refused-replies.js';
import { decodeRequest, encodeError, encodeResult, toWireError } from './wire-codec.js';

export interface AgentServerOptions {
  /** Stays the caller's: it is not closed here. */
  readonly connection: NatsConnection;
  /** Each request is answered by one member of the queue group; events are heard by all. */
  readonly queue: string;
  /** How long requests in flight may take once the process stops. */
  readonly drainMs: number;
  /**
   * Whose questions are answered here: those of hosts, which their subjects name, or those of routers. Handlers of the
   * other kind are left to another server, so that each answers over a connection that may write to its askers alone.
   */
  readonly askers?: 'hosts' | 'routers';
  /** Whether there is anything to answer: nobody is heard before it says so. Absent: yes, at once. */
  readonly isOpen?: Promise<boolean>;
  /** Told of each question that is not handled: its answer may not go where the asker wants it, or its host asks too much. */
  readonly onRefused?: (fault: ReplyFault | AskingFault) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A question that is being answered. */
interface AgentQuestion {
  readonly message: Msg;
  readonly reply: string;
  /** False once the connection over which it came was lost. */
  readonly mayAnswer: () => boolean;
}

/** Made once: a refusal must cost less than an answer. An agent that asks again later, as agents do, is answered. */
const TOO_MUCH = encodeError(
  toWireError(new PlatformError('rate-limited', 'This host asks more than one host may; ask again later.')),
);

/**
 * Serves `@MessagePattern` handlers with our envelope. The framework's own NATS server is not used: it answers nothing
 * to a message that it cannot read, and an agent of another version would wait until its time limit instead of being
 * told. Requests are handled side by side, so one that is held keeps no other waiting. An answer goes below its asker's
 * own inbox and nowhere else, whatever the broker would let through. The questions of one host are bounded, so that it
 * cannot keep the others from being answered.
 */
export class AgentServer extends Server implements CustomTransportStrategy {
  override readonly transportId = Transport.NATS;
  /** A failure of an event's handler is logged here. */
  override readonly propagatesEventHandlerErrors = true;
  readonly #options: AgentServerOptions;
  readonly #subscriptions: Subscription[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  readonly #refused: RefusedReplies;
  readonly #questions: HostQuestions;
  #isClosed = false;
  /** How often the connection was lost. A question that came over a lost one is given nothing any more. */
  #losses = 0;

  constructor(options: AgentServerOptions) {
    super();
    this.#options = options;
    this.#refused = new RefusedReplies(options);
    this.#questions = new HostQuestions({ ...options, limitOf: questionLimit });
    watchConnection(options.connection, { onLost: () => (this.#losses += 1) });
  }

  listen(started: (error?: unknown) => void): void {
    const { connection, isOpen } = this.#options;
    if (isOpen === undefined) {
      this.#subscribe();
    } else {
      void isOpen.then((isSaidSo) => {
        if (isSaidSo && !this.#isClosed && !connection.isClosed()) this.#subscribe();
      });
    }
    // Once the broker has answered, it knows the subscriptions: who is told "started" is heard from then on.
    connection.flush().then(() => {
      started();
    }, started);
  }

  #subscribe(): void {
    const { askers = 'hosts', connection, queue } = this.#options;
    for (const [pattern, { isEventHandler = false }] of this.messageHandlers) {
      if (isAgentSubject(pattern) !== (askers === 'hosts')) continue;
      const answer = isEventHandler ? this.#hear : this.#answer;
      const callback = (error: Error | null, message: Msg): void => {
        if (error === null) this.#accept(message, () => answer.call(this, pattern, message));
        else this.#options.logger.error(`subscription ${pattern} failed`, { error });
      };
      this.#subscriptions.push(connection.subscribe(pattern, isEventHandler ? { callback } : { queue, callback }));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { clock, drainMs } = this.#options;
    const timer = new AbortController();
    await Promise.race([this.#drain(), clock.sleep(drainMs, timer.signal)]);
    timer.abort();
  }

  /** Until the broker has heard of the end it sends requests here, and nobody else will answer those. */
  async #drain(): Promise<void> {
    const { connection, logger } = this.#options;
    const drained = connection.isClosed() ? [] : this.#subscriptions.splice(0).map((each) => each.drain());
    for (const outcome of await Promise.allSettled(drained)) {
      if (outcome.status === 'rejected') logger.warn('a subscription could not be drained', { error: outcome.reason });
    }
    await Promise.all(this.#inFlight);
  }

  on(): void {
    throw new Error('The connection is not owned here; ask it for its status.');
  }

  unwrap<T>(): T {
    return this.#options.connection as T;
  }

  #accept(message: Msg, handle: () => Promise<void>): void {
    const handled = runWithLogContext(contextOf(message), handle);
    this.#inFlight.add(handled);
    void handled.finally(() => this.#inFlight.delete(handled));
  }

  async #hear(pattern: string, message: Msg): Promise<void> {
    const end = this.#begin(message);
    if (end === null) return;
    try {
      await this.#handle(pattern, message);
    } catch (error) {
      this.#options.logger.warn(`event on ${message.subject} failed`, { error });
    } finally {
      end();
    }
  }

  /** Routers may ask what they like. */
  #begin({ subject }: Msg): (() => void) | null {
    return isAgentSubject(subject) ? this.#questions.begin(subject) : () => undefined;
  }

  async #answer(pattern: string, message: Msg): Promise<void> {
    const inbox = isAgentSubject(message.subject) ? inboxPrefix(hostOfSubject(message.subject)) : ROUTER_INBOX;
    // Before any work: what cannot be answered must start nothing.
    const reply = this.#refused.admit(message, inbox);
    if (reply === null) return;
    const end = this.#begin(message);
    if (end === null) {
      this.#respond(message, TOO_MUCH);
      return;
    }
    const losses = this.#losses;
    try {
      const result = await this.#handle(pattern, message);
      const asked = { message, reply, mayAnswer: () => losses === this.#losses };
      if (result instanceof PartedReply) await this.#tellParts(asked, result);
      else await this.#tell(asked, result);
    } catch (error) {
      this.#refuse(message, error);
    } finally {
      end();
    }
  }

  async #tellParts(asked: AgentQuestion, { run }: PartedReply<unknown>): Promise<void> {
    const told: Promise<void>[] = [];
    const onUntold = (error: unknown): void => {
      this.#options.logger.warn(`a part of an answer on ${asked.message.subject} could not be sent`, { error });
    };
    await run((part) => told.push(this.#tell(asked, part).catch(onUntold)));
    await Promise.all(told);
  }

  async #tell({ mayAnswer, message, reply }: AgentQuestion, result: unknown): Promise<void> {
    if (!(result instanceof ConfirmedReply)) {
      message.respond(encodeResult(result));
      return;
    }
    const { connection } = this.#options;
    const isLost = !mayAnswer() || (await reachesNobody(connection, reply, encodeResult(result.result)));
    if (isLost) await result.onUndelivered();
  }

  async #handle(pattern: string, message: Msg): Promise<unknown> {
    const body = decodeRequest(message.string());
    const handler = this.messageHandlers.get(pattern);
    if (handler === undefined) throw new Error(`no handler for ${pattern}`);
    const outcome: unknown = await handler(body, new NatsContext([message.subject, message.headers]));
    return lastValueFrom(this.transformToObservable(outcome), { defaultValue: null });
  }

  #refuse(message: Msg, error: unknown): void {
    const refusal = toWireError(error);
    if (refusal.code === 'internal-error')
      this.#options.logger.error(`request on ${message.subject} failed`, { error });
    this.#respond(message, encodeError(refusal));
  }

  #respond(message: Msg, answer: string): void {
    try {
      message.respond(answer);
    } catch (problem) {
      this.#options.logger.warn(`no answer could be sent on ${message.subject}`, { error: problem });
    }
  }
}

function contextOf({ subject, headers }: Msg): LogContext {
  return {
    // Routers ask as well, and their subjects name no host.
    ...(isAgentSubject(subject) ? { hostId: hostOfSubject(subject) } : {}),
    ...loggedTrace(headers?.get(TRACEPARENT_HEADER)),
  };
}
