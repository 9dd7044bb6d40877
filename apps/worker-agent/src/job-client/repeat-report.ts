import { retry, type Clock, type Permits, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { HeldAttempt } from './attempt.js';
import type { AttemptRecords } from './attempt-records.js';
import type { JobClientMetrics } from './metrics.js';
import type { AskOptions, JobCalls, RouterLink } from './router-link.port.js';

export interface ReportTools {
  readonly link: RouterLink;
  readonly records: AttemptRecords;
  readonly clock: Clock;
  readonly random: Random;
  readonly permits: Permits;
  readonly metrics: JobClientMetrics;
  readonly log: Logger;
  /** Ends all waiting when the agent stops. */
  readonly signal: AbortSignal;
}

const REPORT_TIMEOUT_MS = 5_000;
const BASE_DELAY_MS = 100;
/** Well below the time for which a router that comes back listens before it takes an attempt away. */
const MAX_DELAY_MS = 5_000;
/** Past its TTL a job is gone at the router; after this much more, repeating is given up for good. */
const GIVE_UP_AFTER_EXPIRY_MS = 10 * 60_000;

/**
 * Tells a router of an attempt until one has answered. `request` is made anew for every try.
 *
 * @throws the last failure when the agent stops, or when the job is long gone
 */
export function repeatReport<Verb extends 'chunk' | 'upload' | 'done'>(
  { link, clock, random, permits, metrics, signal }: ReportTools,
  attempt: HeldAttempt,
  { verb, request }: { readonly verb: Verb; readonly request: () => JobCalls[Verb][0] },
): Promise<JobCalls[Verb][1]> {
  const isRetriable = (): boolean => {
    metrics.reportFailures.inc();
    return !isLongGone(attempt, clock.monotonicMs());
  };
  return retry(() => permits.run(() => link.ask(verb, request(), reportOptions(attempt))), {
    clock,
    random,
    signal,
    isRetriable,
    attemptsMax: Number.POSITIVE_INFINITY,
    baseDelayMs: BASE_DELAY_MS,
    maxDelayMs: MAX_DELAY_MS,
  });
}

export const reportOptions = ({ traceparent }: HeldAttempt): AskOptions => ({
  timeoutMs: REPORT_TIMEOUT_MS,
  traceparent,
});

export const isLongGone = ({ expiresAtMs }: HeldAttempt, nowMs: number): boolean =>
  nowMs >= expiresAtMs + GIVE_UP_AFTER_EXPIRY_MS;
