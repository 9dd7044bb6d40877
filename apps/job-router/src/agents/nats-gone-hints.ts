import { goneSubject, type RouterGoneMessage } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { publishOneWay } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';

export interface NatsGoneHintsOptions {
  readonly connection: NatsConnection;
  /** All that are known. */
  readonly hosts: () => Iterable<HostId>;
  readonly logger: Logger;
}

/**
 * Tells hosts that a router's process is gone: none of them can see it, and any may wait for its answer. A hint: a host that
 * misses it waits until its question's time is over.
 */
export class NatsGoneHints {
  readonly #options: NatsGoneHintsOptions;

  constructor(options: NatsGoneHintsOptions) {
    this.#options = options;
  }

  tell(router: string): void {
    const { connection, hosts, logger } = this.#options;
    try {
      for (const hostId of hosts())
        publishOneWay(connection, goneSubject(hostId), { router } satisfies RouterGoneMessage);
    } catch (error) {
      logger.debug('hosts could not be told that a router is gone', { router, error });
    }
  }
}
