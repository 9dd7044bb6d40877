import { sendMany, type LoadOptions, type LoadResult } from '../load.js';
import type { Way } from './ways.js';

export interface WebLoad extends Pick<LoadOptions, 'method' | 'path' | 'concurrency' | 'requests'> {
  readonly body?: Buffer;
}

/** The same request again and again, in equal shares where there are several doors. */
export async function sendThrough({ headers, origins }: Way, load: WebLoad): Promise<LoadResult> {
  const share = 1 / origins.length;
  const [concurrency, requests] = [Math.ceil(load.concurrency * share), Math.ceil(load.requests * share)];
  const sent = await Promise.all(
    origins.map((origin) => sendMany({ ...load, status: 200, origin, headers, concurrency, requests })),
  );
  return {
    perSecond: sent.reduce((sum, { perSecond }) => sum + perSecond, 0),
    latenciesMs: sent.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b),
  };
}
