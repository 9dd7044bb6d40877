import { BUCKETS, CONTROL_HINT_SUBJECT } from '@berth/contracts';
import type { AccountId, EndpointId, HostId } from '@berth/domain';
import { publishOneWay, type Broker } from '@berth/messaging';
import type { Transactions } from '../persistence/transactions.port.js';
import type { ControlSnapshots } from './control-snapshots.port.js';
import type { AccountOutbox, OutboxEntry, SnapshotOutbox } from './snapshot-outbox.port.js';
import { PASS_MAX, type SnapshotPublisher } from './snapshot-publisher.js';

export interface KvControlSnapshotsOptions {
  readonly broker: Broker;
  readonly transactions: Pick<Transactions, 'afterCommit'>;
  readonly outbox: AccountOutbox & Pick<SnapshotOutbox, 'add'>;
  readonly publisher: Pick<SnapshotPublisher, 'probe' | 'publish'>;
}

/** Snapshots in the broker's buckets. */
export class KvControlSnapshots implements ControlSnapshots {
  readonly #options: KvControlSnapshotsOptions;

  constructor(options: KvControlSnapshotsOptions) {
    this.#options = options;
  }

  endpointsChanged(ids: readonly EndpointId[]): Promise<void> {
    return this.#changed(BUCKETS.endpoints, ids);
  }

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
