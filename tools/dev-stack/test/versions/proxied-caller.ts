import { systemClock } from '@berth/lifecycle';
import { request } from 'undici';
import { ApiCaller, type CallOptions } from '../crash/api-caller.js';
import type { DevFile } from '../../src/dev-file.js';
import type { ReadyRouters } from '../stack/ready-routers.js';

/** Whoever is slow has not failed. */
const TIMEOUT_MS = 60_000;
const PAUSE_MS = 50;
const TRIES_MAX = 100;
/** As often a caller waits who is told when to come again. */
const WAITS_MAX = 5;
const MS_PER_SECOND = 1_000;

/**
 * Calls of the job API as a proxy before the routers makes them: it knows which of them say that they are ready, and where
 * nobody listens it asks the next one. Where a router says when to come again its caller does so: on a machine that stands still
 * for seconds whoever takes over an endpoint may not have it in time. Whatever else fails, its caller would see, and is noted.
 */
export class ProxiedCaller extends ApiCaller {
  readonly failures: string[] = [];
  /** How often a router said that its caller should come again. */
  putOff = 0;
  readonly #dev: () => DevFile;
  readonly #routers: ReadyRouters;
  #turns = 0;

  constructor(dev: () => DevFile, routers: ReadyRouters, endpointId: string) {
    super(dev, endpointId);
    this.#dev = dev;
    this.#routers = routers;
  }

  override async open(method: 'GET' | 'POST', path: string, options: CallOptions = {}) {
    try {
      const answer = await this.#openPatiently(method, path, options);
      if (answer.statusCode < 500) return answer;
      throw new Error(`${answer.statusCode} ${await answer.body.text()}`);
    } catch (error) {
      const at = new Date(systemClock.nowMs()).toISOString();
      this.failures.push(`${at} ${method} ${path}: ${String(error)}`);
      throw error;
    }
  }

  async #openPatiently(method: 'GET' | 'POST', path: string, options: CallOptions) {
    for (let waits = 0; ; waits += 1) {
      const answer = await this.#openAnywhere(method, path, options);
      const afterSeconds = answer.statusCode === 503 ? Number(answer.headers['retry-after'] ?? 0) : 0;
      if (afterSeconds === 0 || waits === WAITS_MAX) return answer;
      this.putOff += 1;
      await answer.body.text();
      await systemClock.sleep(afterSeconds * MS_PER_SECOND);
    }
  }

  async #openAnywhere(method: 'GET' | 'POST', path: string, options: CallOptions) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#openOnce(method, path, options);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || tries === TRIES_MAX) throw error;
        await systemClock.sleep(PAUSE_MS);
      }
    }
  }

  /** On a connection of its own: one that is kept may close in the moment in which it is used again. */
  #openOnce(method: 'GET' | 'POST', path: string, { body, headers, silenceMs = TIMEOUT_MS }: CallOptions) {
    const { apiKey, routers } = this.#dev();
    const ready = routers.filter((_, index) => this.#routers.has(index));
    const runUrl = ready[this.#turns % ready.length]?.runUrl ?? routers[0]?.runUrl ?? '';
    this.#turns += 1;
    return request(`${runUrl}/v2/${this.endpointId}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      reset: true,
    });
  }
}
