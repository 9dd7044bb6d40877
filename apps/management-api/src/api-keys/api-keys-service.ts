import type { CreateApiKeyDto } from '@berth/contracts/http';
import {
  PlatformError,
  SCOPE_PRESETS,
  expandScopes,
  fieldChanges,
  grantRefusal,
  reachesAllOf,
  type EndpointId,
  type Scope,
} from '@berth/domain';
import { makeApiKey, type Caller } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { AuditStore } from '../audit/index.js';
import type { ControlSnapshots } from '../snapshots/index.js';
import type { ApiKeyRecord, Transactions } from '../persistence/index.js';
import type { ApiKeysStore } from './api-keys.store.js';

export interface ApiKeysServiceOptions {
  readonly records: ApiKeysStore;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly snapshots: ControlSnapshots;
  readonly clock: Clock;
  readonly random: Random;
}

const ID_LENGTH = 14;

/** Keys of the caller's account. */
export class ApiKeysService {
  readonly #options: ApiKeysServiceOptions;

  constructor(options: ApiKeysServiceOptions) {
    this.#options = options;
  }

  /**
   * The key is in the answer this once.
   *
   * @throws PlatformError `rule-conflict`, `invalid-fields`, `scope-missing`, `endpoint-not-found`
   */
  async create(caller: Caller, dto: CreateApiKeyDto): Promise<{ readonly record: ApiKeyRecord; readonly key: string }> {
    const { audit, clock, random, records, snapshots, transactions } = this.#options;
    const nowMs = clock.nowMs();
    const expiresAtMs = expiryOf(dto, nowMs);
    const scopes = scopesOf(dto);
    const endpointIds = (dto.endpointIds ?? null) as readonly EndpointId[] | null;
    const refusal = grantRefusal(caller, { scopes, endpointIds, expiresAtMs });
    if (refusal !== null) throw new PlatformError('scope-missing', `access denied: ${refusal}`);
    if (endpointIds !== null) await this.#requireEndpoints(caller, endpointIds);
    const { hash, key, prefix } = makeApiKey(random);
    const { accountId } = caller;
    const identity = { id: random.id(ID_LENGTH), accountId, name: dto.name, prefix, hash };
    const record: ApiKeyRecord = { ...identity, scopes, endpointIds, expiresAtMs, createdAtMs: nowMs };
    await transactions.run(async () => {
      await records.insert(record);
      const diff = fieldChanges(
        {},
        { name: record.name, prefix, scopes, endpointIds, expiresAt: dto.expiresAt ?? null },
      );
      await audit.append({ caller, action: 'api-key.created', resourceId: record.id, diff });
      await snapshots.apiKeysChanged([prefix]);
    });
    return { record, key };
  }

  /** Those that reach nothing beyond what the caller's key reaches. */
  async list(caller: Caller): Promise<readonly ApiKeyRecord[]> {
    const records = await this.#options.records.list(caller.accountId);
    return records.filter((record) => reachesAllOf(caller, record));
  }

  /**
   * Refused by every process within 2 s.
   *
   * @throws PlatformError `api-key-not-found`, `scope-missing` for a key that reaches more than the caller's
   */
  async delete(caller: Caller, id: string): Promise<void> {
    const { audit, records, snapshots, transactions } = this.#options;
    await transactions.run(async () => {
      const record = await records.delete(caller.accountId, id);
      if (record === null) throw new PlatformError('api-key-not-found', 'No such API key.');
      if (!reachesAllOf(caller, record)) {
        throw new PlatformError('scope-missing', `access denied: the key does not reach all that ${id} reaches`);
      }
      await audit.append({ caller, action: 'api-key.deleted', resourceId: id, diff: [] });
      await snapshots.apiKeysChanged([record.prefix]);
    });
  }

  async #requireEndpoints(caller: Caller, ids: readonly EndpointId[]): Promise<void> {
    const known = await this.#options.records.knownEndpoints(caller.accountId, ids);
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) throw new PlatformError('endpoint-not-found', `No endpoint ${unknown}.`);
  }
}

function expiryOf({ expiresAt }: CreateApiKeyDto, nowMs: number): number | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  const expiresAtMs = Date.parse(expiresAt);
  if (expiresAtMs > nowMs) return expiresAtMs;
  const reason = '$.expiresAt: must be in the future';
  throw new PlatformError('invalid-fields', `One field failed validation: ${reason}`, { errors: [reason] });
}

function scopesOf({ preset, scopes }: CreateApiKeyDto): readonly Scope[] {
  if ((preset === undefined) === (scopes === undefined)) {
    const reason = "$: send either 'scopes' or 'preset'";
    throw new PlatformError('rule-conflict', `The fields contradict each other: ${reason}.`, { errors: [reason] });
  }
  return preset === undefined ? expandScopes(scopes ?? []).scopes : SCOPE_PRESETS[preset];
}
