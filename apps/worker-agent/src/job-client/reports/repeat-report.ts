import type { AttemptEnd, ReportReply } from '@berth/contracts';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { Logger, Traces } from '@berth/telemetry';
import type { HostAttempt } from '../attempts/attempt.js';
import type { AttemptRecords } from '../attempts/attempt-records.js';
import type { JobClientMetrics } from '../metrics.js';
import type { EndsPost } from './ends-post.js';
import { endBytes, isLargeEnd, payloadBytes } from './payload-bytes.js';
import type { JobCalls, RouterLink } from '../router-link.port.js';
import type { UplinkWindow } from './uplink-window.js';

export interface ReportTools {
  readonly link: RouterLink;
  readonly records: AttemptRecords;
  readonly clock: Clock;
  readonly random: Random;
  readonly window: UplinkWindow;
  readonly ends: EndsPost;
  readonly metrics: JobClientMetrics;
  readonly log: Logger;
  readonly traces: Pick<Traces, 'step'>;
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

/** Told of each try that failed. */
export type OnFailure = () => void;

/**
 * Tells a router how an attempt ended until one has answered. `end` is made anew for every try.
 *
 * @throws the last failure when the agent stops, or when the job is long gone
 */
export function repeatEnd(
  tools: ReportTools,
  attempt: HostAttempt,
  { end, onFailure }: { readonly end: () => AttemptEnd; readonly onFailure?: OnFailure },
): Promise<ReportReply> {
  return repeat(tools, attempt, { send: () => sendEnd(tools, attempt, end), onFailure });
}

/** A large one takes its turn on the line for payload. How long it may take depends on how much is under way. */
function sendEnd(
  { ends, window }: ReportTools,
  { workerId }: HostAttempt,
  makeEnd: () => AttemptEnd,
): Promise<ReportReply> {
  const end = makeEnd();
  if (!isLargeEnd(end)) return ends.send(makeEnd);
  const bytes = endBytes(end);
  return window.run({ bytes, owner: workerId, isUrgent: true }, (aheadBytes) =>
    ends.sendAlone(end, timeoutMs(bytes + aheadBytes)),
  );
}

/**
 * Tells a router what lies in the journal, until one has answered. It is read once the line has room for it, so that no
 * more of it is in memory than may be under way. Null: it cannot be read any more.
 *
 * @throws as `repeatEnd` does
 */
export function repeatStored<Verb extends 'chunk' | 'upload'>(
  tools: ReportTools,
  attempt: HostAttempt,
  {
    bytes,
    onFailure,
    read,
    verb,
  }: {
    readonly verb: Verb;
    readonly bytes: number;
    readonly read: () => Promise<JobCalls[Verb][0] | null>;
    readonly onFailure?: OnFailure;
  },
): Promise<JobCalls[Verb][1] | null> {
  const { link, window } = tools;
  const { traceparent, workerId } = attempt;
  const send = (): Promise<JobCalls[Verb][1] | null> =>
    window.run({ bytes, owner: workerId, isUrgent: false }, async (aheadBytes) => {
      const request = await read();
      return request === null
        ? null
        : link.ask(verb, request, { timeoutMs: timeoutMs(bytes + aheadBytes), traceparent });
    });
  return repeat(tools, attempt, { send, onFailure });
}

const timeoutMs = (bytes: number): number => REPORT_TIMEOUT_MS + Math.ceil(bytes / UPLINK_MIN_BYTES_PER_MS);

function repeat<T>(
  tools: ReportTools,
  attempt: HostAttempt,
  { onFailure, send }: { readonly send: () => Promise<T>; readonly onFailure?: OnFailure | undefined },
): Promise<T> {
  const { clock, random, metrics, signal } = tools;
  const isRetriable = (): boolean => {
    metrics.reportFailures.inc();
    onFailure?.();
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

/** One try to show progress, once the line has room for it. */
export function showOnce(
  { link, window }: Pick<ReportTools, 'link' | 'window'>,
  { traceparent, workerId }: HostAttempt,
  request: JobCalls['progress'][0],
): Promise<ReportReply> {
  const bytes = payloadBytes<'progress'>(request);
  return window.run({ bytes, owner: workerId, isUrgent: false }, (aheadBytes) =>
    link.ask('progress', request, { timeoutMs: timeoutMs(bytes + aheadBytes), traceparent }),
  );
}

export const isLongGone = ({ expiresAtMs }: HostAttempt, nowMs: number): boolean =>
  nowMs >= expiresAtMs + GIVE_UP_AFTER_EXPIRY_MS;
