import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { HeldAttempt } from './attempt.js';
import type { AttemptRecords } from './attempt-records.js';
import type { JobClientMetrics } from './metrics.js';
import { isPayload, payloadBytes } from './payload-bytes.js';
import type { AskOptions, JobCalls, RouterLink } from './router-link.port.js';
import type { UplinkWindow } from './uplink-window.js';

export interface ReportTools {
  readonly link: RouterLink;
  readonly records: AttemptRecords;
  readonly clock: Clock;
  readonly random: Random;
  readonly window: UplinkWindow;
  readonly metrics: JobClientMetrics;
  readonly log: Logger;
  /** Ends all waiting when the agent stops. */
  readonly signal: AbortSignal;
}

const REPORT_TIMEOUT_MS = 5_000;
/** Of the slowest line that an agent is made for, 1 Mbit/s: what takes longer is sent again, which helps no such line. */
const UPLINK_MIN_BYTES_PER_MS = 125;
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
  tools: ReportTools,
  attempt: HeldAttempt,
  { verb, request }: { readonly verb: Verb; readonly request: () => JobCalls[Verb][0] },
): Promise<JobCalls[Verb][1]> {
  const isUrgent = verb === 'done';
  return repeat(tools, attempt, () => sendOnce(tools, attempt, { verb, request: request(), isUrgent }));
}

/**
 * Tells a router what lies in the journal, until one has answered. It is read once the line has room for it, so that no
 * more of it is in memory than may be under way. Null: it cannot be read any more.
 *
 * @throws as `repeatReport` does
 */
export function repeatStored<Verb extends 'chunk' | 'upload'>(
  tools: ReportTools,
  attempt: HeldAttempt,
  {
    bytes,
    read,
    verb,
  }: { readonly verb: Verb; readonly bytes: number; readonly read: () => Promise<JobCalls[Verb][0] | null> },
): Promise<JobCalls[Verb][1] | null> {
  const { link, window } = tools;
  const { traceparent, workerId } = attempt;
  return repeat(tools, attempt, () =>
    window.run({ bytes, owner: workerId, isUrgent: false }, async (aheadBytes) => {
      const request = await read();
      return request === null
        ? null
        : link.ask(verb, request, { timeoutMs: timeoutMs(bytes + aheadBytes), traceparent });
    }),
  );
}

const timeoutMs = (bytes: number): number => REPORT_TIMEOUT_MS + Math.ceil(bytes / UPLINK_MIN_BYTES_PER_MS);

function repeat<T>(tools: ReportTools, attempt: HeldAttempt, send: () => Promise<T>): Promise<T> {
  const { clock, random, metrics, signal } = tools;
  const isRetriable = (): boolean => {
    metrics.reportFailures.inc();
    return !isLongGone(attempt, clock.monotonicMs());
  };
  return retry(send, {
    clock,
    random,
    signal,
    isRetriable,
    attemptsMax: Number.POSITIVE_INFINITY,
    baseDelayMs: BASE_DELAY_MS,
    maxDelayMs: MAX_DELAY_MS,
  });
}

/** One try, once the line has room for it where it is large. How long it may take depends on how much is under way. */
export function sendOnce<Verb extends 'chunk' | 'upload' | 'done' | 'progress'>(
  { link, window }: Pick<ReportTools, 'link' | 'window'>,
  { traceparent, workerId }: HeldAttempt,
  { isUrgent, request, verb }: { readonly verb: Verb; readonly request: JobCalls[Verb][0]; readonly isUrgent: boolean },
): Promise<JobCalls[Verb][1]> {
  if (!isPayload(verb, request)) return link.ask(verb, request, { timeoutMs: REPORT_TIMEOUT_MS, traceparent });
  const bytes = payloadBytes(verb, request);
  return window.run({ bytes, owner: workerId, isUrgent }, (aheadBytes) => {
    return link.ask(verb, request, { timeoutMs: timeoutMs(bytes + aheadBytes), traceparent } satisfies AskOptions);
  });
}

export const isLongGone = ({ expiresAtMs }: HeldAttempt, nowMs: number): boolean =>
  nowMs >= expiresAtMs + GIVE_UP_AFTER_EXPIRY_MS;
