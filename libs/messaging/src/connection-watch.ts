import type { NatsConnection } from '@nats-io/transport-node';

export interface ConnectionChanges {
  /**
   * Unanswered questions will not be answered on this connection any more, nor those that are sent until it is back.
   */
  readonly onLost?: () => unknown;
  readonly onBack?: () => unknown;
}

/** Tells when a connection is lost and when it stands again, for as long as it is not closed. */
export function watchConnection(connection: NatsConnection, { onLost, onBack }: ConnectionChanges): void {
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') onLost?.();
      else if (type === 'reconnect') onBack?.();
    }
  })();
}
