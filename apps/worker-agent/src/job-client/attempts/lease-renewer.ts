import { RENEW_LEASES_MAX } from '@berth/contracts';
import { LEASE_TRUST_MS, RENEW_EARLIEST_MS, RENEW_INTERVAL_MS } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { HostAttempt } from './attempt.js';
import type { JobClientMetrics } from '../metrics.js';
import type { RouterLink } from '../router-link.port.js';

export interface RenewerTools {
  readonly link: RouterLink;
  readonly clock: Clock;
  readonly metrics: JobClientMetrics;
  /** Every attempt whose lease must live. */
  readonly held: () => Iterable<HostAttempt>;
  /** The router says that this attempt is over. */
  readonly onLost: (attempt: HostAttempt) => void;
}

/** Trust left when a renewal is due: the interval has passed since the last was sent. */
const DUE_MS = LEASE_TRUST_MS - RENEW_INTERVAL_MS;
/**
 * Trust left when an attempt joins a renewal that another one made necessary, so that a host sends one message per
 * interval.
 */
const JOIN_MS = LEASE_TRUST_MS - RENEW_EARLIEST_MS;
const RENEW_TIMEOUT_MS = 4_000;
const RETRY_PAUSE_MS = 1_000;

/** Keeps the leases of this host alive. Trust counts from the sending of a renewal, never from its answer. */
export class LeaseRenewer {
  readonly #tools: RenewerTools;
  #isAsking = false;
  #notBeforeMs = 0;

  constructor(tools: RenewerTools) {
    this.#tools = tools;
  }

  /** Renews when any lease is due. Called often; one renewal at a time. */
  tick(): void {
    const nowMs = this.#tools.clock.monotonicMs();
    if (this.#isAsking || nowMs < this.#notBeforeMs) return;
    const held = [...this.#tools.held()];
    if (!held.some((attempt) => isDue(attempt, nowMs, DUE_MS))) return;
    this.#isAsking = true;
    void this.renew(held.filter((attempt) => isDue(attempt, nowMs, JOIN_MS))).finally(() => {
      this.#isAsking = false;
    });
  }

  /** One renewal of these attempts, in as few messages as possible. A failure leaves trust as it was. */
  async renew(attempts: readonly HostAttempt[]): Promise<void> {
    for (let first = 0; first < attempts.length; first += RENEW_LEASES_MAX) {
      await this.#renewPage(attempts.slice(first, first + RENEW_LEASES_MAX));
    }
  }

  async #renewPage(attempts: readonly HostAttempt[]): Promise<void> {
    const { link, clock, metrics, onLost } = this.#tools;
    const sentAtMs = clock.monotonicMs();
    try {
      const leases = attempts.map(({ ref }) => ref);
      const { outcomes } = await link.ask('renew', { leases }, { timeoutMs: RENEW_TIMEOUT_MS });
      for (const [order, attempt] of attempts.entries()) {
        if (outcomes[order] === 'renewed') prolong(attempt, sentAtMs);
        if (outcomes[order] === 'lost') onLost(attempt);
      }
    } catch {
      // Nothing was learnt; the next tick asks again, and trust runs out by itself.
      metrics.renewFailures.inc();
      this.#notBeforeMs = clock.monotonicMs() + RETRY_PAUSE_MS;
    }
  }
}

/** Also where the job's life is over as far as is known here: a caller may have prolonged it. */
const isDue = ({ trustedUntilMs, expiresAtMs, state }: HostAttempt, nowMs: number, trustMs: number): boolean =>
  trustedUntilMs - nowMs <= trustMs || (state === 'open' && nowMs >= expiresAtMs);

/** A job that the router renews past the end that was known here lives from renewal to renewal. */
function prolong(attempt: HostAttempt, sentAtMs: number): void {
  attempt.trustedUntilMs = sentAtMs + LEASE_TRUST_MS;
  if (sentAtMs >= attempt.expiresAtMs) attempt.expiresAtMs = attempt.trustedUntilMs;
}
