import { EventSourceReader } from './read-events.js';

/** An answer as its caller sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the assertions check the shape
  readonly body: any;
}

export interface CallOptions {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Calls the job API of one endpoint with one key. */
export class JobClient {
  readonly #base: string;
  readonly #authorization: string;

  constructor(base: string, key: string) {
    this.#base = base;
    this.#authorization = `Bearer ${key}`;
  }

  async call(path: string, { method = 'GET', body, headers = {}, signal }: CallOptions = {}): Promise<Answer> {
    const response = await fetch(`${this.#base}${path}`, {
      method,
      headers: { authorization: this.#authorization, ...headers },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : null,
    };
  }

  /** A stream of events, read as it comes. */
  events(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    init: RequestInit = {},
  ): Promise<EventSourceReader> {
    const all = { authorization: this.#authorization, accept: 'text/event-stream', ...headers };
    return EventSourceReader.open(`${this.#base}${path}`, { ...init, headers: all });
  }

  post(path: string, body: unknown, more: CallOptions = {}): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.call(path, {
      method: 'POST',
      body: text,
      ...more,
      headers: { 'content-type': 'application/json', ...more.headers },
    });
  }

  /** Submits and returns the id. */
  async run(input: unknown, more: object = {}): Promise<string> {
    const { status, body, text } = await this.post('/run', { input, ...more });
    if (status !== 200) throw new Error(`run: ${status} ${text}`);
    return body.id as string;
  }

  status(id: string): Promise<Answer> {
    return this.call(`/status/${id}`);
  }
}
