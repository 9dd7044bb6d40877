import { BUCKETS, type ApiKeySnapshot, type EndpointSnapshot, type HostSnapshot } from '@berth/contracts';
import type { Endpoint, HostId, HostIntent, LimitOverrides } from '@berth/domain';
import type { EntityTarget, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import type { SnapshotTruth } from './snapshot-truth.port.js';
import {
  ApiKeyEntity,
  type Database,
  type EndpointEntity,
  HostEntity,
  type StoredEndpointSpec,
  toApiKeySnapshot,
  toEndpoint,
  toHostRecord,
} from '../persistence/index.js';

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

interface EndpointWithLimits extends EndpointEntity {
  /** Of its account. */
  readonly limits: LimitOverrides;
}

/** One statement for both: a publication holds a connection as shortly as it can. */
const ENDPOINTS = `
  SELECT e.id, e.account_id AS "accountId", e.spec, e.release, e.version,
         e.created_at AS "createdAt", e.deleted_at AS "deletedAt", a.limits
    FROM endpoints e JOIN accounts a ON a.id = e.account_id`;

/** Endpoints with the limits of their accounts. */
class EndpointTruth implements SnapshotTruth<EndpointSnapshot> {
  readonly bucket = BUCKETS.endpoints;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async all(): Promise<ReadonlyMap<string, EndpointSnapshot>> {
    const rows = await this.#database.read((manager) => manager.query<EndpointWithLimits[]>(ENDPOINTS));
    return new Map(rows.map((row) => [row.id, snapshotOf(row)]));
  }

  async one(id: string): Promise<EndpointSnapshot | null> {
    const [row] = await this.#database.read((manager) =>
      manager.query<EndpointWithLimits[]>(`${ENDPOINTS} WHERE e.id = $1`, [id]),
    );
    return row === undefined ? null : snapshotOf(row);
  }
}

function snapshotOf(row: EndpointWithLimits): EndpointSnapshot {
  const endpoint = toEndpoint(row);
  return row.deletedAt === null
    ? { ...endpointSnapshot(endpoint, row.limits), ...doorOf(row.spec) }
    : endpointTombstone(endpoint, row.deletedAt.getTime());
}

export const endpointTruth = (database: Database): SnapshotTruth<EndpointSnapshot> => new EndpointTruth(database);

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

/** @param limits of the endpoint's account, as an operator has set them */
const endpointSnapshot = (endpoint: Endpoint, limits: LimitOverrides): EndpointSnapshot => ({
  ...endpointFacts(endpoint),
  isDeleted: false,
  ...(Object.keys(limits).length === 0 ? {} : { limits }),
});

/** What routers need at the door of a load-balanced endpoint. */
const doorOf = ({ healthCheckPath: path, loadBalancer: access }: StoredEndpointSpec) => ({
  ...(access === undefined ? {} : { access }),
  ...(path === undefined ? {} : { healthCheckPath: path }),
});

/** The remains of a deleted endpoint. No decision needs its limits any more. */
const endpointTombstone = (endpoint: Endpoint, deletedAtMs: number): EndpointSnapshot => ({
  ...endpointFacts(endpoint),
  isDeleted: true,
  deletedAtMs,
});

const endpointFacts = (endpoint: Endpoint) => ({
  id: endpoint.id,
  accountId: endpoint.accountId,
  type: endpoint.spec.type,
  executionTimeoutMs: endpoint.spec.executionTimeoutMs,
  workersMax: endpoint.spec.workers.max,
});

const hostSnapshot = ({ id, intent }: { readonly id: HostId; readonly intent: HostIntent }): HostSnapshot => ({
  id,
  isDraining: intent === 'draining',
});
