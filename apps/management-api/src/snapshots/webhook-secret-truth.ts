import { BUCKETS, type WebhookSecretsSnapshot } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import type { SelectQueryBuilder } from 'typeorm';
import { type Database, EndpointEntity, WebhookSecretEntity } from '../persistence/index.js';
import type { SnapshotTruth } from './snapshot-truth.port.js';

type Secrets = SelectQueryBuilder<WebhookSecretEntity>;

/** The secrets of endpoints that are not deleted, as the routers are told. A change of them holds the endpoint. */
export class WebhookSecretTruth implements SnapshotTruth<WebhookSecretsSnapshot> {
  readonly bucket = BUCKETS.webhookSecrets;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async all(): Promise<ReadonlyMap<string, WebhookSecretsSnapshot>> {
    const rows = await this.#rows((secrets) => secrets);
    const byEndpoint = Map.groupBy(rows, ({ endpointId }) => endpointId);
    return new Map([...byEndpoint].map(([id, secrets]) => [id, toSnapshot(id, secrets)]));
  }

  async one(key: string): Promise<WebhookSecretsSnapshot | null> {
    const rows = await this.#rows((secrets) => secrets.where('s.endpointId = :key', { key }));
    return rows.length === 0 ? null : toSnapshot(key, rows);
  }

  /** Newest first, by one statement: an endpoint and its secrets are seen as of one instant. */
  #rows(narrowed: (secrets: Secrets) => Secrets): Promise<WebhookSecretEntity[]> {
    return this.#database.read((manager) =>
      narrowed(manager.createQueryBuilder(WebhookSecretEntity, 's'))
        .innerJoin(EndpointEntity, 'e', 'e.id = s.endpointId AND e.deletedAt IS NULL')
        .orderBy('s.ordinal', 'DESC')
        .getMany(),
    );
  }
}

/** As answers and routers name it. */
export const webhookSecretId = ({ endpointId, ordinal }: Pick<WebhookSecretEntity, 'endpointId' | 'ordinal'>): string =>
  `${endpointId}.${ordinal}`;

/** @param secrets newest first */
const toSnapshot = (endpointId: string, secrets: readonly WebhookSecretEntity[]): WebhookSecretsSnapshot => ({
  endpointId: endpointId as EndpointId,
  secrets: secrets.map((secret) => ({
    id: webhookSecretId(secret),
    sealed: secret.sealedSecret,
    expiresAtMs: secret.expiresAt?.getTime() ?? null,
  })),
});
