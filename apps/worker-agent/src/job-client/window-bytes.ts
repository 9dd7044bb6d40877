/** A second of a line of 2 Mbit/s. */
export const UPLINK_WINDOW_MIN_BYTES = 256 * 1024;
/** Fills a line of 300 Mbit/s at 100 ms to the broker and back. */
const WINDOW_MAX_BYTES = 4 * 1024 * 1024;
const FAST_MS = 300;
const SLOW_MS = 1_000;

/** An acknowledgement that comes soon says that the line could carry more at a time, a late one that it carries too much. */
export function nextWindowBytes(windowBytes: number, tookMs: number): number {
  if (tookMs > SLOW_MS) return Math.max(UPLINK_WINDOW_MIN_BYTES, windowBytes / 2);
  return tookMs < FAST_MS ? Math.min(WINDOW_MAX_BYTES, windowBytes * 2) : windowBytes;
}
