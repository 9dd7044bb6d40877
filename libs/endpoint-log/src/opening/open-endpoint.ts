import type { CommandOutcome } from '@berth/domain';
import { OpenLog, type LogEnd, type OpenLogOptions, type SettledAnswer } from '../commit/open-log.js';
import type { LogExtent } from '../carrying/carrier.js';
import { readLog, type BrokenLog } from './read-log.js';

export type Opening =
  | { readonly kind: 'open'; readonly log: OpenLog; readonly extent: LogExtent }
  | BrokenLog
  /** A fault in the rules, or no room to say who owns it. */
  | Exclude<LogEnd, { readonly kind: 'lost-to' | 'given-up' }>
  /** It was given up, or is not certain any more that the endpoint is this router's to open. */
  | { readonly kind: 'unsettled' };

const BACKOFF_BASE_MS = 20;
const BACKOFF_SPREAD_MS = 180;

/**
 * Reads an endpoint's log and begins to own it: by a first batch that says so, which only one of two owners gets in. Where
 * another batch was faster, by an owner before this one or one behind it, the log is read once more.
 *
 * @throws PlatformError `service-unavailable` when the broker does not answer
 */
export async function openEndpoint(
  options: OpenLogOptions & { readonly routerId: string },
  signal: AbortSignal,
): Promise<Opening> {
  while (!signal.aborted && options.mayDecide()) {
    const reading = await readLog(options);
    if (reading.kind === 'broken') return reading;
    const extent = { covers: reading.state.covers, purged: reading.state.readAfter };
    const log = new OpenLog(options, reading);
    const letGo = (): void => log.letGo();
    signal.addEventListener('abort', letGo, { once: true });
    const outcome = await new Promise<SettledAnswer<CommandOutcome>>((resolve) =>
      log.perform({ kind: 'open', routerId: options.routerId }, resolve),
    );
    signal.removeEventListener('abort', letGo);
    if (outcome.kind === 'settled') {
      log.leaseAnew();
      return { kind: 'open', log, extent };
    }
    // Where nothing was appended because it was not certain any more who owns it, the log has not ended by itself.
    log.letGo();
    const end = await log.ended;
    if (end.kind !== 'lost-to' && end.kind !== 'given-up') return end;
    await options.clock.sleep(BACKOFF_BASE_MS + BACKOFF_SPREAD_MS * options.random.fraction(), signal);
  }
  return { kind: 'unsettled' };
}
