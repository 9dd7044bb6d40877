import { hostOfSubject, inboxPrefix } from '@berth/contracts';
import { atEndOfTurn, systemClock, systemRandom } from '@berth/lifecycle';
import { NoRespondersError, TimeoutError, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { decodeReply } from './wire-codec.js';

interface OpenQuestion {
  readonly onPart: (part: unknown) => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface PartedOptions {
  /** Longest wait for the last part. */
  readonly timeoutMs: number;
  /** Told of each part; true: it was the last one. */
  readonly onPart: (part: unknown) => boolean;
  /** Told of each part that comes when nobody waits for it any more. */
  readonly onLate: (part: unknown) => void;
}

/** Where all questions of one kind are answered. */
interface Inbox {
  readonly prefix: string;
  onLate: (part: unknown) => void;
}

const NO_RESPONDERS = 503;

/**
 * Questions that are answered in parts. All of one kind are answered at one place that stands as long as the connection,
 * so that a part which comes too late is still heard: it may bring what somebody has to give back.
 */
export class PartedQuestions {
  readonly #connection: NatsConnection;
  readonly #name = systemRandom.id(20);
  readonly #asked = new Map<string, OpenQuestion>();
  /** By the subject of the questions. */
  readonly #inboxes = new Map<string, Inbox>();
  #count = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** @throws PlatformError the receiver's refusal, or what the client throws where there is no answer */
  async ask(subject: string, body: string, { onLate, onPart, timeoutMs }: PartedOptions): Promise<void> {
    const inbox = this.#inboxOf(subject);
    inbox.onLate = onLate;
    this.#count += 1;
    const key = String(this.#count);
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    this.#asked.set(key, { onPart, resolve, reject });
    atEndOfTurn(() => {
      try {
        this.#connection.publish(subject, body, { reply: `${inbox.prefix}.${key}` });
      } catch (error) {
        reject(error);
      }
    });
    const cancel = systemClock.after(timeoutMs, () => reject(new TimeoutError()));
    try {
      await promise;
    } finally {
      cancel();
      this.#asked.delete(key);
    }
  }

  /** For the questions that wait now: what it gives fails those that still do when it is called. */
  failing(): (error: Error) => void {
    const waiting = [...this.#asked.values()];
    return (error) => {
      for (const { reject } of waiting) reject(error);
    };
  }

  #inboxOf(subject: string): Inbox {
    const known = this.#inboxes.get(subject);
    if (known !== undefined) return known;
    const prefix = `${inboxPrefix(hostOfSubject(subject))}.${this.#name}${this.#inboxes.size}`;
    const inbox: Inbox = { prefix, onLate: () => undefined };
    this.#inboxes.set(subject, inbox);
    this.#connection.subscribe(`${prefix}.*`, {
      callback: (error, message) => {
        // A subscription that the broker refuses brings no answers, which their askers find out.
        if (error === null) this.#hear(inbox, message);
      },
    });
    return inbox;
  }

  #hear({ onLate }: Inbox, message: Msg): void {
    const asked = this.#asked.get(message.subject.slice(message.subject.lastIndexOf('.') + 1));
    try {
      if (message.headers?.code === NO_RESPONDERS) throw new NoRespondersError(message.subject);
      const part = decodeReply(message.string());
      if (asked === undefined) onLate(part);
      else if (asked.onPart(part)) asked.resolve();
    } catch (error) {
      asked?.reject(error);
    }
  }
}
