import {
  BUCKETS,
  CONTROL_HINT_SUBJECT,
  type ApiKeySnapshot,
  type EndpointSnapshot,
  apiKeySnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type HostSnapshot,
  type SnapshotShape,
  type WebhookSecretsSnapshot,
} from '@berth/contracts';
import type { Endpoint, EndpointId, HostId, HostIntent } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { SnapshotWriter, publishOneWay, snapshotCodec, type Broker } from '@berth/messaging';
import type { Transactions } from '../transactions.port.js';
import { endpointSnapshot, hostSnapshot, type ControlSnapshots } from './control-snapshots.port.js';

/** Snapshots in the broker's buckets. */
export class KvControlSnapshots implements ControlSnapshots {
  readonly endpoints: SnapshotWriter<EndpointSnapshot>;
  readonly apiKeys: SnapshotWriter<ApiKeySnapshot>;
  readonly hosts: SnapshotWriter<HostSnapshot>;
  readonly webhookSecrets: SnapshotWriter<WebhookSecretsSnapshot>;
  readonly #broker: Broker;
  readonly #transactions: Pick<Transactions, 'afterCommit'>;

  constructor(broker: Broker, clock: Clock, transactions: Pick<Transactions, 'afterCommit'>) {
    this.#broker = broker;
    this.#transactions = transactions;
    const open = <Value>(bucket: string, shape: SnapshotShape<Value>): SnapshotWriter<Value> =>
      new SnapshotWriter({ broker, clock, bucket, codec: snapshotCodec(shape) });
    this.endpoints = open(BUCKETS.endpoints, endpointSnapshotShape);
    this.apiKeys = open(BUCKETS.apiKeys, apiKeySnapshotShape);
    this.hosts = open(BUCKETS.hosts, hostSnapshotShape);
    this.webhookSecrets = open(BUCKETS.webhookSecrets, webhookSecretsSnapshotShape);
  }

  async putEndpoint(endpoint: Endpoint): Promise<void> {
    await this.endpoints.put(endpoint.id, endpointSnapshot(endpoint, null));
  }

  async putDeletedEndpoint(endpoint: Endpoint, deletedAtMs: number): Promise<void> {
    await this.endpoints.put(endpoint.id, endpointSnapshot(endpoint, deletedAtMs));
  }

  async putApiKey(key: ApiKeySnapshot): Promise<void> {
    await this.apiKeys.put(key.prefix, key);
  }

  async removeApiKey(prefix: string): Promise<void> {
    await this.apiKeys.delete(prefix);
  }

  async putWebhookSecrets(secrets: WebhookSecretsSnapshot): Promise<void> {
    await this.webhookSecrets.put(secrets.endpointId, secrets);
  }

  async removeWebhookSecrets(id: EndpointId): Promise<void> {
    await this.webhookSecrets.delete(id);
  }

  async putHost(host: { readonly id: HostId; readonly intent: HostIntent }): Promise<void> {
    await this.hosts.put(host.id, hostSnapshot(host));
  }

  async removeHost(id: HostId): Promise<void> {
    await this.hosts.delete(id);
  }

  announce(endpointId: EndpointId | 'all'): void {
    // A hint that comes before the commit would hurry a loop to rows that it cannot see yet.
    this.#transactions.afterCommit(() => {
      publishOneWay(this.#broker.connection, CONTROL_HINT_SUBJECT, { endpointId });
    });
  }
}
