import { BUCKETS, type ApiKeySnapshot, type EndpointSnapshot, type HostSnapshot } from '@berth/contracts';
import type { EntityTarget, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import { endpointSnapshot, hostSnapshot } from '../../snapshots/control-snapshots.port.js';
import type { SnapshotTruth } from '../../snapshots/snapshot-truth.port.js';
import type { Database } from '../database.js';
import { ApiKeyEntity, EndpointEntity, HostEntity } from '../entities/index.js';
import { toApiKeySnapshot, toEndpoint, toHostRecord } from '../rows.js';

interface Reflection<Row extends ObjectLiteral, Value> {
  readonly bucket: string;
  readonly entity: EntityTarget<Row>;
  readonly where: (key: string) => FindOptionsWhere<Row>;
  readonly keyOf: (row: Row) => string;
  readonly valueOf: (row: Row) => Value;
}

class RowTruth<Row extends ObjectLiteral, Value> implements SnapshotTruth<Value> {
  readonly #database: Database;
  readonly #reflection: Reflection<Row, Value>;

  constructor(database: Database, reflection: Reflection<Row, Value>) {
    this.#database = database;
    this.#reflection = reflection;
  }

  get bucket(): string {
    return this.#reflection.bucket;
  }

  async all(): Promise<ReadonlyMap<string, Value>> {
    const { entity, keyOf, valueOf } = this.#reflection;
    const rows = await this.#database.read((manager) => manager.find(entity));
    return new Map(rows.map((row) => [keyOf(row), valueOf(row)]));
  }

  async one(key: string): Promise<Value | null> {
    const { entity, valueOf, where } = this.#reflection;
    const row = await this.#database.read((manager) => manager.findOneBy(entity, where(key)));
    return row === null ? null : valueOf(row);
  }
}

export const endpointTruth = (database: Database): SnapshotTruth<EndpointSnapshot> =>
  new RowTruth<EndpointEntity, EndpointSnapshot>(database, {
    bucket: BUCKETS.endpoints,
    entity: EndpointEntity,
    where: (id) => ({ id }),
    keyOf: ({ id }) => id,
    valueOf: (row) => endpointSnapshot(toEndpoint(row), row.deletedAt?.getTime() ?? null),
  });

export const apiKeyTruth = (database: Database): SnapshotTruth<ApiKeySnapshot> =>
  new RowTruth<ApiKeyEntity, ApiKeySnapshot>(database, {
    bucket: BUCKETS.apiKeys,
    entity: ApiKeyEntity,
    where: (prefix) => ({ prefix }),
    keyOf: ({ prefix }) => prefix,
    valueOf: toApiKeySnapshot,
  });

export const hostTruth = (database: Database): SnapshotTruth<HostSnapshot> =>
  new RowTruth<HostEntity, HostSnapshot>(database, {
    bucket: BUCKETS.hosts,
    entity: HostEntity,
    where: (id) => ({ id }),
    keyOf: ({ id }) => id,
    valueOf: (row) => hostSnapshot(toHostRecord(row)),
  });
