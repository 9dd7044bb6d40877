import { ownerSubject, type AnswerOf, type OwnerReply, type OwnerVerb } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import { atEndOfTurn, type Clock } from '@berth/lifecycle';
import type { Msg, Subscription } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import { watchConnection } from '../connection-watch.js';
import { logShard } from '../topology/shards.js';
import { readOwnerReply } from './owner-reply-codec.js';

export interface OwnerRequest<Verb extends OwnerVerb> {
  readonly endpointId: EndpointId;
  readonly verb: Verb;
  /** As `encodeOwnerQuestion` makes it. */
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  /** Gives up waiting; what was sent is handled all the same. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The outcome of a question that was asked once. An outcome that can happen any day is no error: one with a stack costs
 * too much.
 */
export type OwnerOutcome<Verb extends OwnerVerb> =
  | { readonly kind: 'reply'; readonly reply: OwnerReply<AnswerOf<Verb>> }
  /** `silent`: nobody said anything in time, or nothing that can be read. `disconnected`: the broker is away. */
  | { readonly kind: 'silent' | 'no-responders' | 'disconnected' }
  /** It would not go through the broker. */
  | { readonly kind: 'too-large'; readonly maxBytes: number };

interface Waiting {
  readonly shard: number;
  readonly settle: Settle;
}

type Settle = (message: Msg | 'disconnected' | 'silent') => void;

/** Status by which the broker says that nobody listens. */
const NO_RESPONDERS = 503;

/**
 * Questions to owners over one connection, each asked once. It has an inbox of its own: the client's makes an error for
 * every answer that it gets, and takes the first message for the answer, whatever it is.
 */
export class OwnerRequests {
  readonly #broker: Broker;
  readonly #clock: Clock;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #waiting = new Map<string, Waiting>();
  #asked = 0;
  #isLost = false;

  constructor(broker: Broker, clock: Clock) {
    this.#broker = broker;
    this.#clock = clock;
    this.#inbox = broker.newInbox();
    this.#subscription = broker.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#waiting.get(message.subject.slice(this.#inbox.length + 1))?.settle(message);
      },
    });
    watchConnection(broker.connection, {
      onLost: () => this.#lose(),
      onBack: () => (this.#isLost = false),
    });
  }

  /** Never rejects. */
  async ask<Verb extends OwnerVerb>(request: OwnerRequest<Verb>): Promise<OwnerOutcome<Verb>> {
    const { connection } = this.#broker;
    const maxBytes = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (request.body.byteLength > maxBytes) return { kind: 'too-large', maxBytes };
    if (this.#isLost || connection.isClosed()) return { kind: 'disconnected' };
    if (request.signal?.aborted === true) return { kind: 'silent' };
    return this.#send(request);
  }

  /**
   * The router that owned these shards is gone, so the answers to the questions that it got are not waited for any
   * longer.
   */
  letGo(shards: ReadonlySet<number>): void {
    for (const { settle, shard } of [...this.#waiting.values()]) if (shards.has(shard)) settle('silent');
  }

  /** Each waiting question is told that the broker is away. */
  stop(): void {
    this.#subscription.unsubscribe();
    this.#lose();
  }

  #send<Verb extends OwnerVerb>({ body, endpointId, signal, timeoutMs, verb }: OwnerRequest<Verb>) {
    const shard = logShard(endpointId);
    const subject = ownerSubject(shard, verb);
    const token = `${(this.#asked += 1)}`;
    return new Promise<OwnerOutcome<Verb>>((resolve) => {
      const settle: Settle = (message) => {
        const outcome = typeof message === 'string' ? { kind: message } : this.#outcomeOf(verb, subject, message);
        if (outcome === null) return;
        cancel();
        signal?.removeEventListener('abort', giveUp);
        this.#waiting.delete(token);
        resolve(outcome);
      };
      const giveUp = (): void => settle('silent');
      const cancel = this.#clock.after(timeoutMs, giveUp);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.set(token, { shard, settle });
      atEndOfTurn(() => this.#publish(subject, body, token));
    });
  }

  #publish(subject: string, body: Uint8Array, token: string): void {
    try {
      this.#broker.connection.publish(subject, body, { reply: `${this.#inbox}.${token}` });
    } catch {
      // The client refuses when the connection is closed or closes, and nothing else is left to go wrong.
      this.#waiting.get(token)?.settle('disconnected');
    }
  }

  /** Null: it is no answer, and another one may follow. */
  #outcomeOf<Verb extends OwnerVerb>(verb: Verb, subject: string, message: Msg): OwnerOutcome<Verb> | null {
    if (message.data.byteLength === 0 && message.headers?.code === NO_RESPONDERS) return { kind: 'no-responders' };
    const reading = readOwnerReply(verb, message.data);
    if (reading.kind === 'value') return { kind: 'reply', reply: reading.value };
    this.#broker.noteUnreadable({ place: 'owner replies', key: subject, reason: reading.reason });
    return null;
  }

  /** An answer that was on its way is lost, so waiting for it is in vain. */
  #lose(): void {
    this.#isLost = true;
    for (const { settle } of [...this.#waiting.values()]) settle('disconnected');
  }
}
