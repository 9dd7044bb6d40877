import type { AccountId, EndpointId, HostId } from '@berth/domain';
import { BUCKETS, CONTROL_HINT_SUBJECT } from '@berth/contracts';
import { publishOneWay, type Broker } from '@berth/messaging';
import type { Transactions } from '../persistence/index.js';
import type { OutboxEntry } from './snapshot-outbox.port.js';
import type { SnapshotOutboxStore } from './snapshot-outbox.store.js';
import { PASS_MAX, type SnapshotPublisher } from './snapshot-publisher.js';

export interface ControlSnapshotsOptions {
  readonly broker: Broker;
  readonly transactions: Pick<Transactions, 'afterCommit'>;
  readonly outbox: Pick<SnapshotOutboxStore, 'add' | 'addEndpointsOf'>;
  readonly publisher: Pick<SnapshotPublisher, 'probe' | 'publish'>;
}

/**
 * Tells the other processes of the control plane's state, by snapshots in the broker's buckets. Each of the methods that
 * tell of changed rows is a part of the transaction of the change, and throws `service-unavailable` when the broker cannot
 * be told: the caller then takes its own change back. After the commit, and before the transaction answers, the rows are
 * published as they then are; where that is not possible any more it is done as soon as it is, by any process that is there.
 */
export class ControlSnapshots {
  readonly #options: ControlSnapshotsOptions;

  constructor(options: ControlSnapshotsOptions) {
    this.#options = options;
  }

  /** Also of deleted endpoints, which leave a tombstone: the routers end what such an endpoint still has. */
  endpointsChanged(ids: readonly EndpointId[]): Promise<void> {
    return this.#changed(BUCKETS.endpoints, ids);
  }

  /**
   * Of what all its endpoints have from the account. Before the answer the first of them are published, in one step of a
   * bounded number; the rest follows, step by step, by whichever processes are there.
   */
  async accountChanged(id: AccountId): Promise<void> {
    await this.#publish(await this.#options.outbox.addEndpointsOf(id, BUCKETS.endpoints, PASS_MAX));
  }

  apiKeysChanged(prefixes: readonly string[]): Promise<void> {
    return this.#changed(BUCKETS.apiKeys, prefixes);
  }

  webhookSecretsChanged(ids: readonly EndpointId[]): Promise<void> {
    return this.#changed(BUCKETS.webhookSecrets, ids);
  }

  hostsChanged(ids: readonly HostId[]): Promise<void> {
    return this.#changed(BUCKETS.hosts, ids);
  }

  /** A hint to the control loops, after the change is committed. Losing it costs time only. */
  announce(endpointId: EndpointId | 'all'): void {
    const { broker, transactions } = this.#options;
    // A hint that comes before the commit would hurry a loop to rows that it cannot see yet.
    transactions.afterCommit(() => {
      publishOneWay(broker.connection, CONTROL_HINT_SUBJECT, { endpointId });
    });
  }

  async #changed(bucket: string, keys: readonly string[]): Promise<void> {
    await this.#publish(await this.#options.outbox.add(bucket, keys));
  }

  async #publish(entries: readonly OutboxEntry[]): Promise<void> {
    const { publisher, transactions } = this.#options;
    const [first] = entries;
    if (first === undefined) return;
    await publisher.probe(first);
    transactions.afterCommit(() => publisher.publish(entries));
  }
}
