import { request } from 'undici';

/** A request that the stack's own APIs refused. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: string,
    what: string,
  ) {
    super(`${what} answered ${status}: ${body.slice(0, BODY_SHOWN_CHARS)}`);
    this.name = 'ApiError';
  }
}

const BODY_SHOWN_CHARS = 500;
const CALL_TIMEOUT_MS = 10_000;

/** Calls the stack's HTTP APIs with its key, as any client would. */
export class StackClient {
  readonly #apiKey: string;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  get<T>(url: string): Promise<T> {
    return this.#call<T>('GET', url);
  }

  /** @param timeoutMs for calls that wait for a job */
  post<T>(url: string, body: unknown, timeoutMs = CALL_TIMEOUT_MS): Promise<T> {
    return this.#call<T>('POST', url, { body, timeoutMs });
  }

  async #call<T>(
    method: 'GET' | 'POST',
    url: string,
    { body, timeoutMs = CALL_TIMEOUT_MS }: { readonly body?: unknown; readonly timeoutMs?: number } = {},
  ): Promise<T> {
    const response = await request(url, {
      method,
      headers: { authorization: `Bearer ${this.#apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new ApiError(response.statusCode, text, `${method} ${url}`);
    return JSON.parse(text) as T;
  }
}
