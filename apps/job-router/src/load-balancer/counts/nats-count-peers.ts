import {
  REQUEST_COUNTS_SUBJECTS,
  readRequestCounts,
  requestCountsSubject,
  type RequestCountsMessage,
} from '@berth/contracts';
import type { UnreadableMessage } from '@berth/domain';
import type { NatsConnection } from '@nats-io/transport-node';
import type { CountPeers } from './request-totals.js';

export interface NatsCountPeersOptions {
  readonly connection: NatsConnection;
  readonly routerId: string;
  readonly onUnreadable: (message: UnreadableMessage) => void;
}

/** The other routers, over core NATS: nothing is stored or waited for, and a lost message is told anew soon. */
export class NatsCountPeers implements CountPeers {
  readonly #options: NatsCountPeersOptions;
  readonly #subject: string;

  constructor(options: NatsCountPeersOptions) {
    this.#options = options;
    this.#subject = requestCountsSubject(options.routerId);
  }

  tell(endpoints: RequestCountsMessage['endpoints']): void {
    const { connection, routerId } = this.#options;
    if (connection.isClosed()) return;
    connection.publish(this.#subject, JSON.stringify({ routerId, endpoints } satisfies RequestCountsMessage));
  }

  listen(onTold: (message: RequestCountsMessage) => void): () => void {
    const { connection, onUnreadable } = this.#options;
    const subscription = connection.subscribe(REQUEST_COUNTS_SUBJECTS, {
      callback: (error, message) => {
        if (error !== null || message.subject === this.#subject) return;
        const body = message.string();
        // Not within the client's reading loop: what it threw would end that, quietly.
        queueMicrotask(() => {
          const told = readRequestCounts(body);
          if (told.kind === 'value') onTold(told.value);
          else onUnreadable({ place: 'requests', key: message.subject, reason: told.reason });
        });
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }
}
