import { request } from 'undici';
import type { DevFile } from './dev-file.js';

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
}

/** Where an installation answers, and with which key. */
export type Reachable = Pick<DevFile, 'apiKey' | 'baseUrl' | 'runUrl'>;

type ManagementMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

const TIMEOUT_DEFAULT_MS = 10_000;

/** Plain HTTP calls of a tenant, nothing repeated and nothing hidden. */
export class TenantClient {
  readonly #dev: () => Reachable;
  readonly #timeoutMs: number;

  constructor(dev: () => Reachable, timeoutMs = TIMEOUT_DEFAULT_MS) {
    this.#dev = dev;
    this.#timeoutMs = timeoutMs;
  }

  manage<Body>(method: ManagementMethod, path: string, body?: unknown): Promise<Answer<Body>> {
    return this.#call(method, `${this.#dev().baseUrl}${path}`, body);
  }

  job<Body>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer<Body>> {
    return this.#call(method, `${this.#dev().runUrl}/v2${path}`, body);
  }

  async #call<Body>(method: ManagementMethod, url: string, body: unknown): Promise<Answer<Body>> {
    const response = await request(url, {
      method,
      headers: { authorization: `Bearer ${this.#dev().apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: (text === '' ? null : JSON.parse(text)) as Body };
  }
}
