import {
  BUCKETS,
  CONTROL_HINT_SUBJECT,
  type ApiKeySnapshot,
  type EndpointSnapshot,
  type HostSnapshot,
  type WebhookSecretsSnapshot,
} from '@berth/contracts';
import type { Endpoint, EndpointId, HostId, HostIntent } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { SnapshotWriter, plainCodec, publishOneWay, type Broker } from '@berth/messaging';
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
    this.endpoints = new SnapshotWriter({ broker, clock, bucket: BUCKETS.endpoints, codec: plainCodec() });
    this.apiKeys = new SnapshotWriter({ broker, clock, bucket: BUCKETS.apiKeys, codec: plainCodec() });
    this.hosts = new SnapshotWriter({ broker, clock, bucket: BUCKETS.hosts, codec: plainCodec() });
    this.webhookSecrets = new SnapshotWriter({ broker, clock, bucket: BUCKETS.webhookSecrets, codec: plainCodec() });
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
