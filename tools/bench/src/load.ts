import { systemClock } from '@berth/lifecycle';
import { Pool } from 'undici';

export interface LoadOptions {
  readonly origin: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** What each request should be answered. */
  readonly status: number;
  /** Requests under way at one time. */
  readonly concurrency: number;
  /** The load ends after this many requests, whatever happens. */
  readonly requests: number;
  /** Of each sender after each answer; it counts in no figure but `perSecond`. */
  readonly pauseMs?: number;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Of each request, in ms, ascending. */
  readonly latenciesMs: readonly number[];
}

const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Sends the same request again and again to an address on loopback, a fixed number of times.
 *
 * @throws Error when a request was answered otherwise: the figures would lie
 */
export async function sendMany(options: LoadOptions): Promise<LoadResult> {
  const { body: sentBody, concurrency, headers, method, origin, path, pauseMs = 0, requests, status } = options;
  const timeouts = { headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: REQUEST_TIMEOUT_MS };
  const pool = new Pool(origin, { connections: concurrency, ...timeouts });
  const latenciesMs: number[] = [];
  let sent = 0;
  const startedAtMs = systemClock.monotonicMs();
  const runOne = async (): Promise<void> => {
    while (sent < requests) {
      sent += 1;
      const beginMs = systemClock.monotonicMs();
      const { body, statusCode } = await pool.request({ method, path, headers, body: sentBody ?? null });
      const bytes = await body.bytes();
      if (statusCode !== status)
        throw new Error(`${method} ${origin}${path} answered ${statusCode}: ${Buffer.from(bytes).toString()}`);
      latenciesMs.push(systemClock.monotonicMs() - beginMs);
      if (pauseMs > 0) await systemClock.sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runOne));
  const elapsedSeconds = (systemClock.monotonicMs() - startedAtMs) / 1000;
  await pool.close();
  return { perSecond: latenciesMs.length / elapsedSeconds, latenciesMs: latenciesMs.sort((a, b) => a - b) };
}
