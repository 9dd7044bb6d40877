import { request } from 'undici';

/** Statuses after which the published Go client asks no more. */
const FINAL = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);
const STREAM_ROUNDS_MAX = 100;

interface GoAnswer {
  readonly id?: string;
  readonly status?: string;
  readonly output?: unknown;
  readonly [member: string]: unknown;
}

/** Of these the Go client can read integers only: anything else ends its call with an error. */
const INTEGERS = ['delayTime', 'executionTime', 'retries', 'removed'] as const;

/**
 * The calls of the published Go client, one by one: its verbs, its headers, its queries. Its module is not to be had
 * where modules come from, so the client itself cannot be part of a test.
 */
export class GoCalls {
  readonly #base: string;
  readonly #apiKey: string;

  constructor(base: string, apiKey: string) {
    this.#base = base;
    this.#apiKey = apiKey;
  }

  run(input: object): Promise<GoAnswer> {
    return this.#call('POST', '/run', JSON.stringify({ input }));
  }

  async runSync(input: object): Promise<GoAnswer> {
    const answer = await this.#call('POST', '/runsync?wait=90000', JSON.stringify({ input }));
    return FINAL.has(answer.status ?? '') ? answer : this.statusSync(answer.id ?? '');
  }

  status(id: string): Promise<GoAnswer> {
    return this.#call('POST', `/status/${id}`);
  }

  statusSync(id: string): Promise<GoAnswer> {
    return this.#call('POST', `/status-sync/${id}?wait=90000`);
  }

  cancel(id: string): Promise<GoAnswer> {
    return this.#call('POST', `/cancel/${id}`);
  }

  purgeQueue(): Promise<GoAnswer> {
    return this.#call('POST', '/purge-queue');
  }

  health(): Promise<GoAnswer> {
    return this.#call('GET', '/health');
  }

  /** Every chunk, until a final status has come. */
  async stream(id: string): Promise<readonly unknown[]> {
    const chunks: unknown[] = [];
    for (let round = 0; round < STREAM_ROUNDS_MAX; round += 1) {
      const { status = '', stream } = await this.#call('POST', `/stream/${id}?wait=90000`);
      chunks.push(...(stream as readonly unknown[]));
      if (FINAL.has(status)) return chunks;
    }
    throw new Error(`the stream of ${id} has no end`);
  }

  async #call(method: 'GET' | 'POST', path: string, body = ''): Promise<GoAnswer> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#apiKey}` };
    const answer = await request(`${this.#base}${path}`, { method, headers, body: method === 'POST' ? body : null });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`response status ${String(answer.statusCode)}: ${text}`);
    return read(JSON.parse(text) as GoAnswer);
  }
}

function read(answer: GoAnswer): GoAnswer {
  for (const name of INTEGERS) {
    const value = answer[name];
    if (value !== undefined && !Number.isInteger(value))
      throw new Error(`${name} is no integer: ${JSON.stringify(value)}`);
  }
  if (answer['error'] !== undefined && typeof answer['error'] !== 'string') throw new Error('error is no string');
  return answer;
}
