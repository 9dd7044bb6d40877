import { stopSubject, type StopMessage } from '@berth/contracts';
import type { EndpointId, HostId, StopOrder } from '@berth/domain';
import { publishOneWay } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';

/** Jobs in one message: it stays far below what the broker takes. */
const JOBS_PER_MESSAGE = 500;

/** Hurries hosts to stop what they run. A hint: their next renewal hears the same. */
export class StopOrders {
  readonly #connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  send(endpointId: EndpointId, orders: readonly StopOrder[]): void {
    if (this.#connection.isClosed()) return;
    const byHost = new Map<HostId, StopMessage['jobs'][number][]>();
    for (const { hostId, ...stop } of orders) {
      const jobs = byHost.get(hostId);
      if (jobs === undefined) byHost.set(hostId, [{ endpointId, ...stop }]);
      else jobs.push({ endpointId, ...stop });
    }
    for (const [hostId, jobs] of byHost) {
      for (let from = 0; from < jobs.length; from += JOBS_PER_MESSAGE) {
        const part = jobs.slice(from, from + JOBS_PER_MESSAGE);
        publishOneWay(this.#connection, stopSubject(hostId), { jobs: part } satisfies StopMessage);
      }
    }
  }
}
