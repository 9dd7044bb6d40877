import { TRACEPARENT_HEADER } from '@berth/contracts';
import { PlatformError } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import {
  PermissionViolationError,
  RequestError,
  TimeoutError,
  headers,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import { hasNoListener } from '../broker/broker-errors.js';
import { watchConnection } from '../connection-watch.js';
import { RequestsInFlight } from '../requests-in-flight.js';
import { PartedQuestions, type PartedOptions } from './parted-questions.js';
import { TransportError } from './transport-error.js';
import { decodeReply, decodeRequest, encodeError, encodeRequest, encodeResult, toWireError } from './wire-codec.js';

export interface RequestOptions {
  /** Longest wait for the answer. A held request needs its hold and some seconds more. */
  readonly timeoutMs: number;
  /** Gives up waiting; what was sent is handled all the same. */
  readonly signal?: AbortSignal;
  /** W3C trace context of the work that causes the request. */
  readonly traceparent?: string | null;
}

/** How long what was asked before the connection was lost may still be answered once it is back. */
const LATE_ANSWER_MS = 1_000;

/**
 * The agent's side of the conversation: requests up, messages down, over one connection to the broker. A question while
 * that is lost is refused at once: the client would drop it and let it wait out its time.
 */
export class AgentTransport {
  readonly #connection: NatsConnection;
  readonly #requests: RequestsInFlight;
  readonly #parted: PartedQuestions;
  #isLost = false;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#requests = new RequestsInFlight(connection);
    this.#parted = new PartedQuestions(connection);
    watchConnection(connection, {
      onLost: () => (this.#isLost = true),
      onBack: () => {
        this.#isLost = false;
        void this.giveUpUnanswered(LATE_ANSWER_MS);
      },
    });
  }

  /**
   * @throws PlatformError the receiver's refusal
   * @throws TransportError there was no answer; `isRetriable` tells whether to ask again
   */
  async request(subject: string, body: unknown, options: RequestOptions): Promise<unknown> {
    const { signal, timeoutMs, traceparent } = options;
    if (signal?.aborted === true) throw aborted(subject);
    if (this.#isLost) throw notConnected(subject);
    const headers = traceparent ? { headers: traceHeaders(traceparent) } : {};
    const sending = this.#requests.send(subject, encodeRequest(body), { timeout: timeoutMs, ...headers });
    const reply = await raceAbort(sending, signal, subject).catch((error: unknown) => {
      throw toTransportError(error, subject);
    });
    return decodeReply(reply.string());
  }

  /**
   * Asks what is answered in parts, and resolves with the last of them.
   *
   * @throws as `request` does
   */
  async requestParts(subject: string, body: unknown, options: PartedOptions): Promise<void> {
    if (this.#isLost) throw notConnected(subject);
    await this.#parted.ask(subject, encodeRequest(body), options).catch((error: unknown) => {
      throw error instanceof PlatformError ? error : toTransportError(error, subject);
    });
  }

  /**
   * The router that was asked may not be able to answer any more. One that can has this long to do so; what it then has not
   * answered fails as `unanswered`, so that nothing waits in vain.
   */
  async giveUpUnanswered(lateMs: number): Promise<void> {
    const failures = [this.#requests.failing(), this.#parted.failing()];
    await systemClock.sleep(lateMs);
    for (const fail of failures) fail(unanswered());
  }

  /** Calls `listener` whenever the connection stands again. */
  onBack(listener: () => void): void {
    watchConnection(this.#connection, { onBack: listener });
  }

  /** Sends a one-way message to those who listen now. @throws when the connection is closed */
  tell(subject: string, body: unknown): void {
    publishOneWay(this.#connection, subject, body);
  }

  /**
   * Answers questions of the server side until the returned function is called. Its role may publish below its own name
   * only, so a question that wants its answer elsewhere gets none.
   *
   * @param answersBelow prefix of all subjects that may be answered at
   */
  answer(subject: string, answersBelow: string, handle: (body: unknown) => Promise<unknown>): () => void {
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null || message.reply?.startsWith(answersBelow) !== true) return;
        void answerOf(message.string(), handle).then((text) => {
          // One that comes after the connection was closed reaches nobody.
          if (!this.#connection.isClosed()) message.respond(text);
        });
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }

  /** Hears one-way messages until the returned function is called; one that cannot be read goes to `onUnreadable`. */
  listen(subject: string, onMessage: (body: unknown) => void, onUnreadable: (error: unknown) => void): () => void {
    const subscription: Subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) {
          onUnreadable(error);
          return;
        }
        try {
          onMessage(decodeRequest(message.string()));
        } catch (problem) {
          onUnreadable(problem);
        }
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }
}

/** Sends a one-way message to those who listen now; that there was none is not told. */
export function publishOneWay(connection: NatsConnection, subject: string, body: unknown): void {
  connection.publish(subject, encodeRequest(body));
}

async function answerOf(text: string, handle: (body: unknown) => Promise<unknown>): Promise<string> {
  try {
    return encodeResult(await handle(decodeRequest(text)));
  } catch (error) {
    return encodeError(toWireError(error));
  }
}

function traceHeaders(traceparent: string) {
  const trace = headers();
  trace.set(TRACEPARENT_HEADER, traceparent);
  return trace;
}

async function raceAbort(sending: Promise<Msg>, signal: AbortSignal | undefined, subject: string): Promise<Msg> {
  if (signal === undefined) return sending;
  const { promise: abort, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    reject(aborted(subject));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([sending, abort]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const aborted = (subject: string): TransportError =>
  new TransportError('aborted', `The request on ${subject} was given up.`, { isRetriable: false });

function toTransportError(error: unknown, subject: string): TransportError {
  if (error instanceof TransportError) return error;
  const cause = error instanceof RequestError && error.cause instanceof Error ? error.cause : error;
  if (hasNoListener(error))
    return new TransportError('no-responder', `Nobody answers on ${subject}.`, { isRetriable: true, cause });
  if (cause instanceof TimeoutError) {
    return new TransportError('timeout', `No answer on ${subject} in time.`, { isRetriable: true, cause });
  }
  if (cause instanceof PermissionViolationError) {
    return new TransportError('forbidden', `The broker refuses ${subject}.`, { isRetriable: false, cause });
  }
  return notConnected(subject, cause);
}

const unanswered = (): TransportError =>
  new TransportError('unanswered', 'Whoever was asked cannot answer any more.', { isRetriable: true });

const notConnected = (subject: string, cause?: unknown): TransportError =>
  new TransportError('not-connected', `The broker could not be asked on ${subject}.`, { isRetriable: true, cause });
