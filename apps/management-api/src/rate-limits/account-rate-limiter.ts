import { longestSpent, windowStartMs, windowState, type WindowLimit, type WindowState } from '@berth/domain';
import type { Caller, RateLimitVerdict, RateLimiter } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { rateLimitMetrics } from './metrics.js';
import { RATE_WINDOWS, type RateCount, type RateQuotas, type RateWindowsStore } from './rate-windows.store.js';

export interface AccountRateLimiterOptions {
  readonly windows: RateWindowsStore;
  readonly quotas: RateQuotas;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** A request that could not be counted by then goes on: limits guard the service, and must not take it down. */
const ANSWER_WITHIN_MS = 1_000;
const LOG_EVERY_MS = 10_000;

type RateLimit = WindowLimit & (typeof RATE_WINDOWS)[number];

/** Counts the requests of each account, over all its keys. Keys with the scope `admin` are the operator's: they have no limits. */
export class AccountRateLimiter implements RateLimiter {
  readonly #options: AccountRateLimiterOptions;
  readonly #limits: readonly RateLimit[];
  readonly #unchecked: ReturnType<typeof rateLimitMetrics>['unchecked'];
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: AccountRateLimiterOptions) {
    this.#options = options;
    this.#limits = limitsOf(options.quotas);
    this.#unchecked = rateLimitMetrics(options.metrics).unchecked;
  }

  async admit({ accountId, scopes }: Caller): Promise<RateLimitVerdict | null> {
    const { quotas, windows: store } = this.#options;
    if (this.#limits.length === 0 || scopes.includes('admin')) return null;
    const count = await this.#inTime(store.count(accountId, quotas));
    if (count === null) return null;
    const windows = this.#limits.map((limit) => stateOf(limit, count));
    return { windows, spent: count.isAdmitted ? null : longestSpent(windows) };
  }

  /** Null where the store failed, or did not answer in time. */
  async #inTime(counting: Promise<RateCount>): Promise<RateCount | null> {
    const answered = new AbortController();
    const late = this.#options.clock.sleep(ANSWER_WITHIN_MS, answered.signal).then(() => null);
    try {
      const count = await Promise.race([counting, late]);
      if (count === null) this.#letThrough(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`));
      return count;
    } catch (error) {
      this.#letThrough(error);
      return null;
    } finally {
      answered.abort();
    }
  }

  #letThrough(error: unknown): void {
    const { clock, logger } = this.#options;
    this.#unchecked.inc();
    if (clock.monotonicMs() < this.#quietUntilMs) return;
    this.#quietUntilMs = clock.monotonicMs() + LOG_EVERY_MS;
    logger.warn('rate limits cannot be checked; requests are let through', { error });
  }
}

const limitsOf = (quotas: RateQuotas): readonly RateLimit[] =>
  RATE_WINDOWS.flatMap((window) => {
    const quota = quotas[window.name];
    return quota === null ? [] : [{ ...window, quota }];
  });

function stateOf(limit: RateLimit, { nowMs, used }: RateCount): WindowState {
  const use = { startedAtMs: windowStartMs(limit, nowMs), used: used[limit.name] };
  return windowState({ limit, use }, nowMs);
}
