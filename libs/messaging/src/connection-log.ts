import type { LogFields, Logger } from '@berth/telemetry';
import type { ConnectionEvent } from './connection.js';

/** Causes that are remembered as said; where there are more, they are said again. */
const SAID_MAX = 64;

/**
 * What to tell of a connection's events, for its log. A broker that refuses a connection, or is away, has every try go
 * through the same few events: each is said once until the connection stands again, and at debug from then on.
 *
 * @param name begins each line: `nats: disconnect`
 */
export function newConnectionLog(
  logger: Logger,
  name: string,
  fields: LogFields = {},
): (event: ConnectionEvent) => void {
  const said = new Set<string>();
  return ({ detail, kind }) => {
    if (kind === 'reconnect') said.clear();
    const cause = `${kind} ${detail}`;
    const level = said.has(cause) ? 'debug' : 'info';
    if (said.size >= SAID_MAX) said.clear();
    said.add(cause);
    logger[level](`${name}: ${kind}`, { ...fields, detail });
  };
}
