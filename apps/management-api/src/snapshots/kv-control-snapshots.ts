import { BUCKETS, CONTROL_HINT_SUBJECT } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import { publishOneWay, type Broker } from '@berth/messaging';
import type { Transactions } from '../transactions.port.js';
import type { ControlSnapshots } from './control-snapshots.port.js';
import type { SnapshotOutbox } from './snapshot-outbox.port.js';
import type { SnapshotPublisher } from './snapshot-publisher.js';

export interface KvControlSnapshotsOptions {
  readonly broker: Broker;
  readonly transactions: Pick<Transactions, 'afterCommit'>;
  readonly outbox: Pick<SnapshotOutbox, 'add'>;
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
    const { outbox, publisher, transactions } = this.#options;
    const entries = await outbox.add(bucket, keys);
    const [first] = entries;
    if (first === undefined) return;
    await publisher.probe(first);
    transactions.afterCommit(() => publisher.publish(entries));
  }
}
