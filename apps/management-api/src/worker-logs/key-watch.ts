import type { Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ApiKeysStore } from '../api-keys/index.js';

export interface KeyWatchOptions {
  readonly keys: Pick<ApiKeysStore, 'isKept'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** So long may a stream go on whose key was revoked. */
const LOOK_EVERY_MS = 5_000;

/** Resolves when the caller's key is revoked or its time is over, within seconds, or when the signal aborts. */
export async function untilKeyEnds(
  { accountId, expiresAtMs, keyId }: Caller,
  { clock, keys, logger }: KeyWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const leftMs = expiresAtMs === null ? LOOK_EVERY_MS : expiresAtMs - clock.nowMs();
    if (leftMs <= 0) return;
    await clock.sleep(Math.min(leftMs, LOOK_EVERY_MS), signal);
    try {
      if (!signal.aborted && !(await keys.isKept(accountId, keyId))) return;
    } catch (error) {
      logger.debug('the key of a reader of logs cannot be looked up now; its stream goes on', { error });
    }
  }
}
