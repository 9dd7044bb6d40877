import { readShape, type Shape } from '@berth/domain/shape';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import { noAnswer, refusalOf, unreadableAnswer, CallFailure } from './call-failure.js';

/** One call of the management API. It may be repeated: it changes nothing twice, or has an idempotency key. */
export interface ManagementCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** From `/v2` on. */
  readonly path: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** Where the management API is, and who asks. */
export interface ManagementAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const CALL_TIMEOUT_MS = 10_000;
const ATTEMPTS_MAX = 4;
const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 4_000;
/** Hosts with long inventories, thousands of them. */
const ANSWER_BYTES_MAX = 64 * 1_024 * 1_024;
const NOT_FOUND = 404;

/** Asks the management API, each time for at most 10 s, and again where another try may help: 4 times in all. */
export class ManagementClient {
  readonly #access: ManagementAccess;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(access: ManagementAccess, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#access = access;
    this.#clock = clock;
    this.#random = random;
  }

  /** @throws CommandError saying why there is no answer of that shape */
  async ask<Answer>(call: ManagementCall, shape: Shape): Promise<Answer> {
    const text = await this.#repeated(call);
    const reading = readShape<Answer>(shape, jsonOf(text));
    if (reading.kind === 'unreadable') throw unreadableAnswer(this.#urlOf(call), reading.reason);
    return reading.value;
  }

  /** For a call that is answered without a body. @throws CommandError saying why it was not done */
  async tell(call: ManagementCall): Promise<void> {
    await this.#repeated(call);
  }

  #repeated(call: ManagementCall): Promise<string> {
    return retry((attempt) => this.#once(call, attempt), {
      clock: this.#clock,
      random: this.#random,
      attemptsMax: ATTEMPTS_MAX,
      baseDelayMs: BASE_DELAY_MS,
      maxDelayMs: MAX_DELAY_MS,
      isRetriable: (error) => error instanceof CallFailure && error.isRetriable,
    });
  }

  async #once(call: ManagementCall, attempt: number): Promise<string> {
    const { status, text } = await this.#exchange(call);
    if (status >= 200 && status < 300) return text;
    // An earlier try has removed it, and its answer was lost.
    if (call.method === 'DELETE' && status === NOT_FOUND && attempt > 1) return '';
    throw refusalOf(this.#urlOf(call), status, jsonOf(text));
  }

  async #exchange(call: ManagementCall): Promise<{ readonly status: number; readonly text: string }> {
    const { body, idempotencyKey, method } = call;
    const url = this.#urlOf(call);
    try {
      const answer = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${this.#access.apiKey}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      });
      return { status: answer.status, text: await boundedText(url, answer) };
    } catch (error) {
      throw error instanceof CallFailure ? error : noAnswer(url, error);
    }
  }

  #urlOf({ path }: ManagementCall): string {
    return `${this.#access.baseUrl.replace(/\/+$/, '')}${path}`;
  }
}

async function boundedText(url: string, answer: Response): Promise<string> {
  if (answer.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > ANSWER_BYTES_MAX) throw unreadableAnswer(url, `it is longer than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Undefined where it is no JSON: then it has no shape either. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
