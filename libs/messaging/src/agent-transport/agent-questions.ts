import { systemClock } from '@berth/lifecycle';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { TransportError } from './transport-error.js';
import { decodeReply, encodeRequest } from './wire-codec.js';

export interface AgentQuestionsOptions {
  /** Over which agents are heard. */
  readonly connection: NatsConnection;
  /** All subjects at which answers come, with `*` for the host; what follows it tells questions apart. */
  readonly answers: string;
}

export interface AgentQuestion {
  /** Where the agent hears it. */
  readonly subject: string;
  /** Where this agent may answer, without what tells questions apart. Others cannot publish there. */
  readonly answersAt: string;
  readonly body: unknown;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly answersAt: string;
  readonly hear: (message: Msg) => void;
}

/** Questions that wait for their answer at a time, in one process. */
const WAITING_MAX = 8_192;
/** In the header of the broker's own answer to what nobody hears. */
const NOBODY_HEARS = 503;

/**
 * Asks agents. An agent may publish below its own name only, so it answers there and not in an inbox: what comes at its
 * subjects is this agent's word, whatever it says.
 */
export class AgentQuestions {
  readonly #connection: NatsConnection;
  readonly #waiting = new Map<string, Waiting>();
  readonly #subscription: Subscription;
  #asked = 0;

  constructor({ answers, connection }: AgentQuestionsOptions) {
    this.#connection = connection;
    this.#subscription = connection.subscribe(`${answers}.*`, {
      callback: (error, message) => {
        if (error === null) this.#hear(message);
      },
    });
  }

  /**
   * @throws PlatformError the agent's refusal
   * @throws TransportError there was no answer: `no-responder` at once where no agent of the host is connected
   */
  async ask({ answersAt, body, signal, subject, timeoutMs }: AgentQuestion): Promise<unknown> {
    if (signal.aborted) throw failed('aborted', 'The question was given up.');
    if (this.#waiting.size >= WAITING_MAX) throw failed('timeout', 'Too many questions wait for agents.');
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    this.#asked += 1;
    const name = this.#asked.toString(36);
    const over = new AbortController();
    const giveUp = (): void => {
      reject(failed('aborted', 'The question was given up.'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.set(name, { answersAt, hear: resolve });
    void systemClock.sleep(timeoutMs, over.signal).then(() => {
      reject(failed('timeout', `No answer on ${subject} in time.`));
    });
    try {
      this.#publish(subject, body, `${answersAt}.${name}`);
      return readAnswer(await promise, subject);
    } finally {
      signal.removeEventListener('abort', giveUp);
      over.abort();
      this.#waiting.delete(name);
    }
  }

  /** What waits gets no answer any more. */
  close(): void {
    this.#subscription.unsubscribe();
  }

  #publish(subject: string, body: unknown, reply: string): void {
    try {
      this.#connection.publish(subject, encodeRequest(body), { reply });
    } catch (cause) {
      throw failed('not-connected', 'The broker cannot be asked.', cause);
    }
  }

  #hear(message: Msg): void {
    const dot = message.subject.lastIndexOf('.');
    const waiting = this.#waiting.get(message.subject.slice(dot + 1));
    // The name alone is guessed easily: another host cannot answer in this one's place.
    if (waiting?.answersAt === message.subject.slice(0, dot)) waiting.hear(message);
  }
}

function readAnswer(message: Msg, subject: string): unknown {
  if (message.headers?.code === NOBODY_HEARS) throw failed('no-responder', `Nobody answers on ${subject}.`);
  return decodeReply(message.string());
}

const failed = (failure: TransportError['failure'], words: string, cause?: unknown): TransportError =>
  new TransportError(failure, words, { isRetriable: failure !== 'aborted', cause });
