import type { StartedStack } from '@berth/dev-stack';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { request } from 'undici';
import { headersOf } from '../bench-endpoint.js';

export interface CallRecord {
  /** From the first try to the job's end. */
  readonly latencyMs: number;
  /** Tries after the first, each at the other router. */
  readonly repeats: number;
  /** What a client would not have repeated. */
  readonly error: string | null;
}

export interface KilledCallerOptions {
  readonly endpointId: string;
  /** By its place among the stack's routers. */
  readonly firstRouter: number;
  readonly pauseMs: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfterMs: number;
  /** Or a problem, which has neither. */
  readonly job: { readonly id?: string; readonly status?: string };
}

/** A call that took so long is an error, whatever may become of it. */
const PATIENCE_MS = 60_000;
/** Where no answer said how long to wait. */
const REPEAT_MS = 100;
const LOOK_MS = 1_000;
const ERROR_MAX = 200;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });

/** A client as it should be: what was not answered, or with 503, it says again under the same key, at the other router. */
export class KilledCaller {
  readonly #stack: StartedStack;
  readonly #options: KilledCallerOptions;
  #router: number;

  constructor(stack: StartedStack, options: KilledCallerOptions) {
    this.#stack = stack;
    this.#options = options;
    this.#router = options.firstRouter;
  }

  /** One call after the other; the last one is ended. */
  async callUntil(signal: AbortSignal): Promise<readonly CallRecord[]> {
    const records: CallRecord[] = [];
    while (!signal.aborted) {
      records.push(await this.#call());
      await systemClock.sleep(this.#options.pauseMs, signal);
    }
    return records;
  }

  async #call(): Promise<CallRecord> {
    const key = systemRandom.uuid();
    const beganAtMs = systemClock.monotonicMs();
    for (let repeats = 0; ; repeats += 1) {
      const answer = await this.#run(key);
      const latencyMs = systemClock.monotonicMs() - beganAtMs;
      if (answer !== null && answer.status !== 503) return { latencyMs, repeats, error: errorOf(answer) };
      if (latencyMs > PATIENCE_MS) return { latencyMs, repeats, error: 'no answer in a minute' };
      this.#router += 1;
      await systemClock.sleep(answer?.retryAfterMs ?? REPEAT_MS);
    }
  }

  /** A job that is accepted and has not ended is asked for again, as published clients do. */
  async #run(key: string): Promise<Answer | null> {
    let answer = await this.#ask('POST', '/runsync', key);
    while (answer !== null && isUnended(answer)) {
      await systemClock.sleep(LOOK_MS);
      answer = await this.#ask('GET', `/status/${answer.job.id ?? ''}`);
    }
    return answer;
  }

  /** Null: the connection was refused, or broke. */
  async #ask(method: 'GET' | 'POST', path: string, key?: string): Promise<Answer | null> {
    const { apiKey, routers } = this.#stack.dev;
    const runUrl = routers[this.#router % routers.length]?.runUrl ?? '';
    try {
      const { body, headers, statusCode } = await request(`${runUrl}/v2/${this.#options.endpointId}${path}`, {
        method,
        headers: { ...headersOf(apiKey), ...(key === undefined ? {} : { 'idempotency-key': key }) },
        body: method === 'POST' ? BODY : null,
        headersTimeout: PATIENCE_MS,
        bodyTimeout: PATIENCE_MS,
      });
      const job = (await body.json()) as Answer['job'];
      return { status: statusCode, job, retryAfterMs: Number(headers['retry-after'] ?? 0) * 1_000 };
    } catch {
      // The router has been killed: what a client sees of it is this.
      return null;
    }
  }
}

const isUnended = ({ job, status }: Answer): boolean =>
  status === 200 && (job.status === 'IN_QUEUE' || job.status === 'IN_PROGRESS');

const errorOf = ({ job, status }: Answer): string | null =>
  status === 200 && job.status === 'COMPLETED' ? null : `${status} ${JSON.stringify(job).slice(0, ERROR_MAX)}`;
