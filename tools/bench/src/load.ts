import { systemClock } from '@berth/lifecycle';
import { Pool } from 'undici';

export interface LoadOptions {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Requests under way at one time. */
  readonly concurrency: number;
  /** The load ends after this many requests, whatever happens. */
  readonly requests: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly failures: number;
  /** Of each answered request, in ms, ascending. */
  readonly latenciesMs: readonly number[];
}

const REQUEST_TIMEOUT_MS = 30_000;

/** Posts the same body again and again to an address on loopback, a fixed number of times. */
export async function postMany(options: LoadOptions): Promise<LoadResult> {
  const pool = new Pool(options.origin, {
    connections: options.concurrency,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
  });
  const latenciesMs: number[] = [];
  let sent = 0;
  let failures = 0;
  const startedAtMs = systemClock.monotonicMs();
  const runOne = async (): Promise<void> => {
    while (sent < options.requests) {
      sent += 1;
      const beginMs = systemClock.monotonicMs();
      const { body, statusCode } = await pool.request({
        method: 'POST',
        path: options.path,
        headers: options.headers,
        body: options.body,
      });
      await body.dump();
      if (statusCode === 200) latenciesMs.push(systemClock.monotonicMs() - beginMs);
      else failures += 1;
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, runOne));
  const elapsedSeconds = (systemClock.monotonicMs() - startedAtMs) / 1000;
  await pool.close();
  return {
    perSecond: latenciesMs.length / elapsedSeconds,
    failures,
    latenciesMs: latenciesMs.sort((a, b) => a - b),
  };
}

/** @param share in [0, 1]: 0.5 is the median */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number =>
  percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
