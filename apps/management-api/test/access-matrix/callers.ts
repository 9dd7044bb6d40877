import { SCOPES, type Scope } from '@berth/domain';
import type { ManagementBench } from '../management-bench.js';
import type { Tenant } from './tenant.js';

/** Somebody who asks, with what their key grants. */
export interface Caller {
  readonly name: string;
  /** Null: without one. */
  readonly key: string | null;
  /** False: 401, whatever is asked. */
  readonly isKnown: boolean;
  readonly scopes: readonly Scope[];
  /** `it`: limited to the endpoint of the tenant; `elsewhere`: limited to another of its endpoints. */
  readonly reach: 'all' | 'it' | 'elsewhere';
}

const EXPIRED_AT = '2026-01-01T00:00:00Z';

/** Every kind of caller of the tenant's account: each scope alone, all but each, keys that do not count, limited ones. */
export async function callersOf(bench: ManagementBench, tenant: Tenant): Promise<readonly Caller[]> {
  const newKey = (scopes: readonly Scope[], endpointIds?: string[]): Promise<string> =>
    bench.newKey(scopes, { maker: tenant.key, ...(endpointIds === undefined ? {} : { endpointIds }) });
  const known = async (name: string, scopes: readonly Scope[], reach: Caller['reach'] = 'all'): Promise<Caller> => {
    const endpointIds = { all: undefined, it: [tenant.id('endpoint')], elsewhere: [elsewhere] }[reach];
    return { name, key: await newKey(scopes, endpointIds), isKnown: true, scopes, reach };
  };
  const unknown = (name: string, key: string | null): Caller => ({
    name,
    key,
    isKnown: false,
    scopes: [],
    reach: 'all',
  });
  const elsewhere = await tenant.make('endpoint');
  return [
    unknown('no key', null),
    unknown('an unknown key', `bk_${'a'.repeat(12)}_${'b'.repeat(40)}`),
    unknown('an expired key', await expired(bench, await newKey(SCOPES))),
    unknown('a revoked key', await revoked(bench, await newKey(SCOPES))),
    await known('every scope', SCOPES),
    await known('every scope, for it', SCOPES, 'it'),
    await known('every scope, for another', SCOPES, 'elsewhere'),
    ...(await Promise.all(SCOPES.map((scope) => known(`only ${scope}`, [scope])))),
    ...(await Promise.all(
      SCOPES.map((scope) =>
        known(
          `all but ${scope}`,
          SCOPES.filter((each) => each !== scope),
        ),
      ),
    )),
  ];
}

async function expired(bench: ManagementBench, key: string): Promise<string> {
  await bench.source.query(
    `UPDATE api_keys SET expires_at = $1::timestamptz, created_at = $1::timestamptz - interval '1 day' WHERE prefix = $2`,
    [EXPIRED_AT, key.split('_')[1]],
  );
  return key;
}

async function revoked(bench: ManagementBench, key: string): Promise<string> {
  const { body } = await bench.call('GET /v2/api-keys', { key });
  const { id } = (body as { apiKeys: { id: string; prefix: string }[] }).apiKeys.find(
    ({ prefix }) => prefix === key.split('_')[1],
  ) ?? { id: '' };
  await bench.call(`DELETE /v2/api-keys/${id}`);
  return key;
}
