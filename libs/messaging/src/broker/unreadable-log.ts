import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { UnreadableMessage } from '@berth/domain';
import { unreadableMetrics } from './metrics.js';

export interface UnreadableLogOptions {
  readonly metrics: MetricRegistry;
  readonly logger: Logger;
}

/** Messages of one writer that are named in the log; more of them say nothing new. */
const NAMED_MAX = 1_000;
const KEY_MAX_CHARACTERS = 200;

/** Counts what cannot be read by its place, and names each message once. */
export function unreadableLog({ logger, metrics }: UnreadableLogOptions): (message: UnreadableMessage) => void {
  const counter = unreadableMetrics(metrics);
  const named = new Set<string>();
  return ({ key, place, reason }) => {
    counter.inc({ place });
    const name = `${place} ${printable(key)}`;
    if (named.has(name) || named.size > NAMED_MAX) return;
    named.add(name);
    if (named.size > NAMED_MAX) logger.error('too many messages cannot be read to name them all', { place });
    else logger.error('a message cannot be read; it is passed over', { place, key: printable(key), reason });
  };
}

/** The name was chosen by the writer of the message. */
const printable = (text: string): string => text.slice(0, KEY_MAX_CHARACTERS).replaceAll(/[^\x21-\x7e]/g, '?');
