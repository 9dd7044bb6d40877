import { request } from 'undici';
import type { DevFile } from '../../src/dev-file.js';

const TIMEOUT_MS = 10_000;

export interface ApiAnswer {
  readonly status: number;
  readonly body: { readonly [member: string]: unknown };
}

/** Calls of the job API of one endpoint, at one router after the other, nothing repeated. */
export class ApiCaller {
  readonly #dev: () => DevFile;
  readonly endpointId: string;
  #calls = 0;

  constructor(dev: () => DevFile, endpointId: string) {
    this.#dev = dev;
    this.endpointId = endpointId;
  }

  /** Null when nobody knows what came of it: no answer, or one that says that the service cannot now. */
  async call(method: 'GET' | 'POST', path: string, options: CallOptions = {}): Promise<ApiAnswer | null> {
    try {
      const { statusCode, body } = await this.open(method, path, options);
      const text = await body.text();
      if (statusCode >= 500) return null;
      return { status: statusCode, body: (text === '' ? {} : JSON.parse(text)) as ApiAnswer['body'] };
    } catch {
      // The router is being restarted, or stands still.
      return null;
    }
  }

  /** The answer as it comes, for what streams. */
  open(method: 'GET' | 'POST', path: string, { body, headers, silenceMs = TIMEOUT_MS }: CallOptions = {}) {
    const { apiKey, routers } = this.#dev();
    const runUrl = routers[this.#calls % routers.length]?.runUrl ?? '';
    this.#calls += 1;
    return request(`${runUrl}/v2/${this.endpointId}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    });
  }
}

export interface CallOptions {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest time without a byte. */
  readonly silenceMs?: number;
}
