import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import { request } from 'undici';

interface SteadyJobsOptions {
  readonly endpointId: string;
  readonly apiKey: string;
  /** Where routers answer now. */
  readonly runUrls: () => readonly string[];
}

interface Answer {
  readonly status: number;
  readonly retryAfter: number;
  readonly body: { readonly id?: string; readonly status?: string; readonly output?: unknown };
}

const PAUSE_MS = 300;
const WAIT = { deadlineMs: 90_000, intervalMs: 100 };
const TIMEOUT_MS = 30_000;
const WAITS_MAX = 5;
const MS_PER_SECOND = 1_000;

/**
 * Jobs that are posted one after the other, as by a proxy before the routers: where nobody listens it asks the next one, and
 * where a router says when to come again its caller does so. Whatever else fails is noted.
 */
export class SteadyJobs {
  readonly failures: string[] = [];
  /** How often a router said that its caller should come again. */
  putOff = 0;
  readonly #options: SteadyJobsOptions;
  /** What was accepted: the message by the job's id. */
  readonly #accepted = new Map<string, string>();
  readonly #ended = new Set<string>();
  readonly #over = new AbortController();
  readonly #posting: Promise<void>;
  #turns = 0;

  constructor(options: SteadyJobsOptions) {
    this.#options = options;
    this.#posting = this.#post();
  }

  get accepted(): number {
    return this.#accepted.size;
  }

  /** Resolves when a job that was accepted after this was called has ended. */
  async goesOn(): Promise<void> {
    const before = new Set(this.#accepted.keys());
    await eventually(async () => {
      const late = [...this.#accepted.keys()].find((id) => !before.has(id));
      expect(late).toBeDefined();
      await this.#look(late ?? '');
    }, WAIT);
  }

  /** No further job; resolves when each that was accepted has ended with what its worker made of it. */
  async end(): Promise<void> {
    this.#over.abort();
    await this.#posting;
    await eventually(async () => {
      for (const id of this.#accepted.keys()) if (!this.#ended.has(id)) await this.#look(id);
    }, WAIT);
  }

  async #look(id: string): Promise<void> {
    const { body } = await this.#ask('GET', `status/${id}`);
    expect(body).toMatchObject({ id, status: 'COMPLETED', output: { echo: { message: this.#accepted.get(id) } } });
    this.#ended.add(id);
  }

  async #post(): Promise<void> {
    for (let at = 0; !this.#over.signal.aborted; at += 1) {
      const message = `job ${String(at)}`;
      try {
        const { body, status } = await this.#ask('POST', 'run', { input: { message } });
        if (status === 200 && body.id !== undefined) this.#accepted.set(body.id, message);
        else this.failures.push(`${message}: ${String(status)} ${JSON.stringify(body)}`);
      } catch (error) {
        this.failures.push(`${message}: ${String(error)}`);
      }
      await systemClock.sleep(PAUSE_MS, this.#over.signal);
    }
  }

  async #ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    for (let waits = 0; ; waits += 1) {
      const answer = await this.#askAnywhere(method, path, body);
      if (answer.status !== 503 || answer.retryAfter === 0 || waits === WAITS_MAX) return answer;
      this.putOff += 1;
      await systemClock.sleep(answer.retryAfter * MS_PER_SECOND);
    }
  }

  async #askAnywhere(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    for (;;) {
      const urls = this.#options.runUrls();
      this.#turns += 1;
      try {
        return await this.#askOnce(`${urls[this.#turns % urls.length] ?? ''}/v2/${this.#options.endpointId}/${path}`, {
          method,
          body,
        });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || this.#over.signal.aborted) throw error;
        await systemClock.sleep(PAUSE_MS);
      }
    }
  }

  /** On a connection of its own: one that is kept may close in the moment in which it is used again. */
  async #askOnce(
    url: string,
    { body, method }: { readonly method: 'GET' | 'POST'; readonly body: object | undefined },
  ): Promise<Answer> {
    const answer = await request(url, {
      method,
      headers: { authorization: `Bearer ${this.#options.apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      ...{ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, reset: true },
    });
    const retryAfter = Number(answer.headers['retry-after'] ?? 0);
    return { status: answer.statusCode, retryAfter, body: (await answer.body.json()) as Answer['body'] };
  }
}
