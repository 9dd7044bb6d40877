import type { Host } from '@berth/domain';

/** Longer than this without any heartbeat means that the listener is away, rather than that every host died at once. */
const SILENCE_MAX_MS = 12_000;

/**
 * Since when heartbeats come in without a break. While the process that receives them is away all hosts look silent;
 * none of them may be called lost for that.
 */
export class HearingWatch {
  #sinceMs: number;
  #lastLookMs: number;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.#lastLookMs = nowMs;
  }

  /**
   * To be called with every pass. A pause between two calls is a break too: where the database was away for a while,
   * the first host that is recorded again must not make all the others look lost.
   */
  observe(hosts: Iterable<Pick<Host, 'lastSeenAtMs'>>, nowMs: number): number {
    const lastHeardMs = Math.max(0, ...[...hosts].map(({ lastSeenAtMs }) => lastSeenAtMs ?? 0));
    const hasHeard = nowMs - lastHeardMs <= SILENCE_MAX_MS;
    const hasLooked = nowMs - this.#lastLookMs <= SILENCE_MAX_MS;
    if (!hasHeard || !hasLooked) this.#sinceMs = nowMs;
    this.#lastLookMs = nowMs;
    return this.#sinceMs;
  }
}
