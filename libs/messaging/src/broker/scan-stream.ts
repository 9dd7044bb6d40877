import type { Clock } from '@berth/lifecycle';
import type { Broker } from './broker.js';
import { brokerUnavailable } from './broker-errors.js';
import { TailSession, type TailMessage, type TailStart } from './tail-session.js';

export interface StreamScanOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly stream: string;
  readonly filter?: string;
  /** `everything` unless said otherwise. */
  readonly what?: Exclude<TailStart, object>;
  readonly signal?: AbortSignal;
  readonly onMessage: (message: TailMessage) => void;
}

/**
 * Tells the headers of everything that is in a stream, or of the last message of each subject, once.
 *
 * @throws PlatformError `service-unavailable` when it could not be told to the end
 */
export async function scanStream(options: StreamScanOptions): Promise<void> {
  const { broker, clock, stream, filter, signal, what = 'everything', onMessage } = options;
  let isWhole = false;
  const session = new TailSession({
    broker,
    clock,
    stream,
    filter,
    isHeadersOnly: true,
    start: what,
    onMessage,
    onCaughtUp: () => {
      isWhole = true;
      session.end('told');
    },
  });
  const abort = (): void => {
    session.end('aborted');
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const reason = await session.run();
    if (!isWhole && signal?.aborted !== true) throw brokerUnavailable(new Error(`reading ${stream}: ${reason}`));
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
