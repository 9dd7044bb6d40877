import { Module, type Provider, type Type } from '@nestjs/common';
import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId, Scope } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { afterAll, beforeAll } from '@jest/globals';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '../src/app/http-app.js';
import { API_KEY_DIRECTORY } from '../src/auth/api-key-directory.port.js';
import { hashApiKey, makeApiKey } from '../src/auth/api-key.js';
import { managementRendering } from '../src/problems/renderings.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON; null without a body. Loose on purpose: the assertions say what it must be. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

export interface Call {
  /** Null: no key at all. Absent: the one with every scope that the bench was given. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string | Uint8Array<ArrayBuffer>;
}

/** An application with our edge around the controllers of a test, called through HTTP. */
export class EdgeBench {
  readonly metrics = new MetricRegistry();
  readonly #controllers: readonly Type[];
  readonly #providers: readonly Provider[];
  readonly #options: Partial<HttpAppOptions>;
  readonly #keys: ApiKeySnapshot[] = [];
  readonly #key = this.newKey(['serverless:read', 'serverless:write']);
  #app: HttpApp | undefined;
  #port = 0;

  constructor(controllers: readonly Type[], more: { providers?: Provider[]; options?: Partial<HttpAppOptions> } = {}) {
    this.#controllers = controllers;
    this.#providers = more.providers ?? [];
    this.#options = more.options ?? {};
  }

  get port(): number {
    return this.#port;
  }

  get authorization(): string {
    return `Bearer ${this.#key}`;
  }

  newKey(scopes: readonly Scope[], accountId = 'a1'): string {
    const { hash, key, prefix } = makeApiKey(systemRandom);
    const known = { id: prefix, prefix, hash, scopes, endpointIds: null, expiresAtMs: null };
    this.#keys.push({ ...known, accountId: accountId as AccountId });
    return key;
  }

  revokeKey(key: string): void {
    this.#keys.splice(0, this.#keys.length, ...this.#keys.filter(({ hash }) => hash !== hashApiKey(key)));
  }

  async open(): Promise<void> {
    const directory = { find: async (asked: string) => this.#keys.find(({ prefix }) => prefix === asked) ?? null };
    class EdgeModule {}
    Module({
      controllers: [...this.#controllers],
      providers: [{ provide: API_KEY_DIRECTORY, useValue: directory }, ...this.#providers],
    })(EdgeModule);
    this.#app = await createHttpApp(EdgeModule, {
      logger: silentLogger,
      clock: systemClock,
      random: systemRandom,
      metrics: this.metrics,
      docsUrl: 'https://docs.test',
      credentialForm: 'bearer',
      renderingOf: () => managementRendering,
      bodyMaxBytes: () => 1_024 * 1_024,
      ...this.#options,
    });
    this.#port = await this.#app.listen('127.0.0.1', 0);
  }

  async leave(acceptMs: number): Promise<void> {
    await this.#app?.leave(acceptMs);
  }

  async close(limitMs = 1_000): Promise<void> {
    await this.#app?.drain(limitMs);
  }

  /** @param request method and path: `POST /things` */
  async call(request: string, { headers = {}, key = this.#key, text }: Call = {}): Promise<Answer> {
    const [method = 'GET', path = '/'] = request.split(' ');
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: answer === '' ? null : JSON.parse(answer),
    };
  }
}

/** Call once at the top of a spec. */
export function useEdge(...parts: ConstructorParameters<typeof EdgeBench>): EdgeBench {
  const bench = new EdgeBench(...parts);
  beforeAll(() => bench.open());
  afterAll(() => bench.close());
  return bench;
}
