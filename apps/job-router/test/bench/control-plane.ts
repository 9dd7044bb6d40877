import {
  BUCKETS,
  CONTROL_PULSE_SUBJECT,
  type ApiKeySnapshot,
  type AssignedWorker,
  type AssignmentSnapshot,
  type EndpointSnapshot,
  type HostSnapshot,
  type WebhookSecretsSnapshot,
} from '@berth/contracts';
import { SCOPES, type AccountId, type EndpointId, type HostId, type WorkerId } from '@berth/domain';
import { hashApiKey, makeApiKey } from '@berth/http';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, SnapshotWriter, ensureTopology, plainCodec, type TopologySize } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';

export const TOPOLOGY: TopologySize = { replicas: 1, storageBytes: 8 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 };

export interface Tenant {
  readonly accountId: AccountId;
  /** The whole key, as a caller sends it. */
  readonly key: string;
}

/** Writes what the control plane would write. */
export class ControlPlane {
  readonly #endpoints: SnapshotWriter<EndpointSnapshot>;
  readonly #apiKeys: SnapshotWriter<ApiKeySnapshot>;
  readonly #hosts: SnapshotWriter<HostSnapshot>;
  readonly #assignments: SnapshotWriter<AssignmentSnapshot>;
  readonly #webhookSecrets: SnapshotWriter<WebhookSecretsSnapshot>;

  readonly #connection: NatsConnection;

  private constructor(broker: Broker) {
    this.#connection = broker.connection;
    const open = <Value>(bucket: string): SnapshotWriter<Value> =>
      new SnapshotWriter<Value>({ broker, clock: systemClock, bucket, codec: plainCodec<Value>() });
    this.#endpoints = open(BUCKETS.endpoints);
    this.#apiKeys = open(BUCKETS.apiKeys);
    this.#hosts = open(BUCKETS.hosts);
    this.#assignments = open(BUCKETS.assignments);
    this.#webhookSecrets = open(BUCKETS.webhookSecrets);
  }

  static async open(connection: NatsConnection, replicas: TopologySize['replicas'] = 1): Promise<ControlPlane> {
    const broker = await Broker.over({ connection });
    const size = { ...TOPOLOGY, replicas };
    await ensureTopology({ broker, part: 'snapshots', size, clock: systemClock, random: systemRandom });
    return new ControlPlane(broker);
  }

  async tenant(more: Partial<ApiKeySnapshot> = {}): Promise<Tenant> {
    const accountId = more.accountId ?? (`acc${systemRandom.id(8)}` as AccountId);
    const { key, prefix } = makeApiKey(systemRandom);
    await this.#apiKeys.put(prefix, {
      id: `key${prefix}`,
      accountId,
      prefix,
      hash: hashApiKey(key),
      scopes: SCOPES,
      endpointIds: null,
      expiresAtMs: null,
      ...more,
    });
    return { accountId, key };
  }

  async endpoint(accountId: AccountId, more: Partial<EndpointSnapshot> = {}): Promise<EndpointId> {
    const id = more.id ?? (`ep${systemRandom.id(10)}` as EndpointId);
    const snapshot = {
      id,
      accountId,
      type: 'QUEUE',
      executionTimeoutMs: 300_000,
      workersMax: 3,
      isDeleted: false,
    } as const;
    await this.#endpoints.put(id, { ...snapshot, ...more });
    return id;
  }

  async host(more: Partial<HostSnapshot> = {}): Promise<HostId> {
    const id = more.id ?? (`host${systemRandom.id(6)}` as HostId);
    await this.#hosts.put(id, { id, isDraining: false, ...more });
    return id;
  }

  async revokeHost(hostId: HostId): Promise<void> {
    await this.#hosts.delete(hostId);
  }

  async revokeKey(key: string): Promise<void> {
    await this.#apiKeys.delete(key.split('_')[1] ?? '');
  }

  async assign(
    endpointId: EndpointId,
    workers: readonly (Pick<AssignedWorker, 'id' | 'hostId'> & Partial<AssignedWorker>)[],
    outlook?: AssignmentSnapshot['outlook'],
  ): Promise<void> {
    const full = workers.map((worker) => ({ phase: 'idle', isDraining: false, ...worker }) as const);
    const told = outlook === undefined ? {} : { outlook };
    await this.#assignments.put(endpointId, { endpointId, workers: full, ...told });
  }

  /** Sealed already, newest first. */
  async webhookSecrets(endpointId: EndpointId, secrets: WebhookSecretsSnapshot['secrets']): Promise<void> {
    await this.#webhookSecrets.put(endpointId, { endpointId, secrets });
  }

  /** A sign of life. */
  pulse(): void {
    this.#connection.publish(CONTROL_PULSE_SUBJECT);
  }
}

export const newWorkerId = (): WorkerId => `w${systemRandom.id(8)}` as WorkerId;
