import type { Inventory } from '../host/index.js';
import { cleanText, utf8Bytes } from '../text/index.js';
import type { ObservedWorker } from './worker.js';

/** What a host tells of itself. */
export interface HostNews {
  readonly inventory: Inventory;
  readonly workers: readonly ObservedWorker[];
}

/** Half a second of a line of 2 Mbit/s: leases are renewed over the same one. */
export const HOST_NEWS_MAX_BYTES = 128 * 1024;
const SHORT_REASON_CHARACTERS = 120;

/**
 * The news within `maxBytes`: reasons are shortened first, then the images are left out, which only let placement prefer
 * a host, and then the reasons. A worker is never left out, because a host that no longer names it would say that it is
 * gone.
 */
export function fitReport(news: HostNews, maxBytes: number): HostNews {
  const steps = [withShortReasons, withoutImages, withoutReasons];
  return steps.reduce((fitting, step) => (isWithin(fitting, maxBytes) ? fitting : step(fitting)), news);
}

const withShortReasons = (news: HostNews): HostNews => ({
  ...news,
  workers: news.workers.map((worker) => ({ ...worker, reason: cleanText(worker.reason, SHORT_REASON_CHARACTERS) })),
});

const withoutImages = (news: HostNews): HostNews => ({ ...news, inventory: { ...news.inventory, images: [] } });

const withoutReasons = (news: HostNews): HostNews => ({
  ...news,
  workers: news.workers.map((worker) => ({ ...worker, reason: '' })),
});

/** Longest form of one UTF-16 code unit in UTF-8. */
const UTF8_BYTES_MAX = 3;

const isWithin = (news: HostNews, maxBytes: number): boolean => {
  const text = JSON.stringify(news);
  return text.length * UTF8_BYTES_MAX <= maxBytes || utf8Bytes(text) <= maxBytes;
};
