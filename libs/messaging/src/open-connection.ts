import type { ProcessParts } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { newConnectionLog } from './connection-log.js';
import { connectNats, drainConnection, type ConnectNatsOptions } from './connection.js';

const CONNECT_WITHIN_MS = 30_000;

type ConnectionOptions = Pick<ConnectNatsOptions, 'url' | 'name' | 'credentials' | 'inboxPrefix' | 'isFirst'>;

/**
 * One of a process's connections to the broker: the log says what becomes of it, and it is drained when the process stops.
 *
 * @throws the last error when no connection stood within 30 s
 */
export async function openConnection(
  { clock, logger, onStop, random }: ProcessParts,
  options: ConnectionOptions,
): Promise<NatsConnection> {
  const { name } = options;
  const connection = await connectNats({
    ...{ ...options, clock, random, connectWithinMs: CONNECT_WITHIN_MS },
    onStatus: newConnectionLog(logger, 'nats', { connection: name }),
  });
  onStop(`nats ${name}`, () => drainConnection(connection, clock));
  return connection;
}
