import type { UnreadableMessage } from '@berth/domain';
import type { Reading } from '@berth/domain/shape';
import { watchConnection } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';

export interface RouterPeersOptions<Message> {
  readonly connection: NatsConnection;
  readonly onUnreadable: (message: UnreadableMessage) => void;
  /** Where this router tells, and where all of them are heard. */
  readonly subjects: { readonly own: string; readonly all: string };
  /** What is told, in the words of `UnreadableMessage`. */
  readonly place: string;
  readonly read: (body: string) => Reading<Message>;
}

/** The other routers, over core NATS: nothing is stored or waited for, and what is lost is told anew soon. */
export class RouterPeers<Message extends object> {
  readonly #options: RouterPeersOptions<Message>;
  #isConnected = true;

  constructor(options: RouterPeersOptions<Message>) {
    this.#options = options;
    watchConnection(options.connection, {
      onLost: () => (this.#isConnected = false),
      onBack: () => (this.#isConnected = true),
    });
  }

  /** While the broker is away nothing is kept for it: what the others heard too late would count too long. */
  tell(message: Message): void {
    const { connection, subjects } = this.#options;
    if (!this.#isConnected || connection.isClosed()) return;
    connection.publish(subjects.own, JSON.stringify(message));
  }

  listen(onMessage: (message: Message) => void): () => void {
    const { connection, onUnreadable, place, read, subjects } = this.#options;
    const subscription = connection.subscribe(subjects.all, {
      callback: (error, heard) => {
        if (error !== null || heard.subject === subjects.own) return;
        const body = heard.string();
        // Not within the client's reading loop: what it threw would end that, quietly.
        queueMicrotask(() => {
          const told = read(body);
          if (told.kind === 'value') onMessage(told.value);
          else onUnreadable({ place, key: heard.subject, reason: told.reason });
        });
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }
}
