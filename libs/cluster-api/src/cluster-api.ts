import {
  IsomorphicFetchHttpLibrary,
  RequestContext,
  type HttpMethod,
  type KubeConfig,
  type ResponseContext,
} from '@kubernetes/client-node';
import type { Clock } from '@berth/lifecycle';
import { ClusterError } from './cluster-error.js';

export interface ClusterApiOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
}

type Query = Readonly<Record<string, string | number | boolean>>;

export interface Question {
  readonly method?: `${HttpMethod}`;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Half a minute unless given. */
  readonly timeoutMs?: number;
}

/** An API that is silent for so long is not there; what streams may be silent for longer. */
const CALL_TIMEOUT_MS = 30_000;
/** Certificates and the like are read anew after it, as they are renewed on disk. */
const CONNECTIONS_MAX_AGE_MS = 10 * 60_000;
/** Far above every object and list that is asked for here. */
const ANSWER_CHARACTERS_MAX = 64 * 2 ** 20;
const ERROR_CHARACTERS_MAX = 2_000;

type Connections = NonNullable<ReturnType<RequestContext['getDispatcher']>>;

/** The cluster's API over the client's own connections and logins: answers as they are, with a time limit each. */
export class ClusterApi {
  readonly #options: ClusterApiOptions;
  readonly #http = new IsomorphicFetchHttpLibrary();
  #connections: { readonly pool: Connections; readonly sinceMs: number } | null = null;

  constructor(options: ClusterApiOptions) {
    this.#options = options;
  }

  get config(): KubeConfig {
    return this.#options.config;
  }

  /** @throws ClusterError of any status but success; what the connection throws */
  async ask<T>(path: string, question: Question = {}): Promise<T> {
    const text = await this.read(path, question);
    if (text.length > ANSWER_CHARACTERS_MAX) throw new Error(`the answer has ${String(text.length)} characters`);
    return JSON.parse(text) as T;
  }

  /** What the API answers as text. @throws as `ask` */
  async read(path: string, { signal, timeoutMs = CALL_TIMEOUT_MS, ...question }: Question = {}): Promise<string> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const response = await this.#send(
      path,
      question,
      signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    );
    return response.body.text();
  }

  /** Pieces of an answer as they come, until the API or the signal ends it. @throws as `ask` */
  async *stream(path: string, query: Query, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const response = await this.#send(path, { query }, signal);
    const body = response.body.stream();
    if (body === null) return;
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      // A reader that leaves does not wait for the API to hear of it.
      void reader.cancel().catch(() => undefined);
    }
  }

  async #send(
    path: string,
    question: Omit<Question, 'signal' | 'timeoutMs'>,
    signal: AbortSignal,
  ): Promise<ResponseContext> {
    const server = this.config.getCurrentCluster()?.server ?? '';
    const url = new URL(`${server.replace(/\/$/, '')}${path}`);
    for (const [name, value] of Object.entries(question.query ?? {})) url.searchParams.set(name, String(value));
    const context = new RequestContext(url.toString(), question.method ?? 'GET');
    await this.config.applySecurityAuthentication(context);
    context.setDispatcher(this.#connectionsOf(context));
    context.setSignal(signal);
    context.setHeaderParam('Accept', 'application/json, */*');
    if (question.body !== undefined) {
      context.setHeaderParam('Content-Type', question.contentType ?? 'application/json');
      context.setBody(JSON.stringify(question.body));
    }
    const response = await this.#http.send(context).toPromise();
    if (response.httpStatusCode >= 200 && response.httpStatusCode < 300) return response;
    throw new ClusterError(response.httpStatusCode, wordsIn(await response.body.text()));
  }

  /** The client makes connections anew for each request, and a login for each would be slow. */
  #connectionsOf(context: RequestContext): Connections {
    const nowMs = this.#options.clock.monotonicMs();
    const fresh = context.getDispatcher();
    const known = this.#connections;
    if (known !== null && nowMs - known.sinceMs < CONNECTIONS_MAX_AGE_MS) return known.pool;
    if (fresh === undefined) throw new Error('the cluster has no address');
    this.#connections = { pool: fresh, sinceMs: nowMs };
    return fresh;
  }
}

/** The API says what is wrong in an object of its own; what stands before it may say anything. */
function wordsIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message.slice(0, ERROR_CHARACTERS_MAX);
  } catch {
    // Not the API's own words.
  }
  return text.slice(0, ERROR_CHARACTERS_MAX);
}
