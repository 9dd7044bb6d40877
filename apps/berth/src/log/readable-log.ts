import { PlatformError, type EndpointId } from '@berth/domain';
import type { LogEntry } from '@berth/endpoint-log';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import { BrokerApiError, type NatsLogBroker } from '@berth/messaging';

/** One endpoint's log, as somebody at a terminal needs it. */
export interface ReadableLog {
  readonly endpointId: EndpointId;
  readonly broker: Pick<NatsLogBroker, 'inspect' | 'read' | 'readNext' | 'removeEntry'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends whatever waits. */
  readonly signal: AbortSignal;
}

/** A broker that goes away for longer than it takes to choose a leader is told of. */
const FAILURES_MAX = 8;
const BACKOFF_BASE_MS = 250;
const BACKOFF_MAX_MS = 4_000;
const JITTER = 0.5;

/**
 * The entries behind that sequence, as `read` has them. A reading that fails on the way goes on from where it was.
 *
 * @throws PlatformError `service-unavailable` when the broker stays away
 */
export async function* entriesBehind(source: ReadableLog, after: number): AsyncGenerator<LogEntry> {
  const { broker, clock, endpointId, random, signal } = source;
  let last = after;
  for (let failures = 0; !signal.aborted;) {
    try {
      for await (const entry of broker.read(endpointId, last)) {
        last = entry.sequence;
        failures = 0;
        yield entry;
      }
      return;
    } catch (error) {
      failures += 1;
      if (!isPassing(error) || failures >= FAILURES_MAX) throw error;
      const pauseMs = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (failures - 1));
      await clock.sleep(pauseMs * (1 - JITTER * random.fraction()), signal);
    }
  }
}

/**
 * Asks one thing that changes nothing, again where no answer comes. What the broker says is told at once.
 *
 * @throws PlatformError `service-unavailable` when the broker stays away
 */
export const askPatiently = <Answer>(
  { clock, random, signal }: Pick<ReadableLog, 'clock' | 'random' | 'signal'>,
  ask: () => Promise<Answer>,
): Promise<Answer> =>
  retry(ask, {
    ...{ clock, random, signal, attemptsMax: FAILURES_MAX, baseDelayMs: BACKOFF_BASE_MS, maxDelayMs: BACKOFF_MAX_MS },
    isRetriable: (error) => isPassing(error) && !(error.cause instanceof BrokerApiError),
  });

const isPassing = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && error.code === 'service-unavailable';
