import { createHash } from 'node:crypto';
import type { KeyGrant } from '@berth/domain';
import { readBodyJson } from '../validation/read-body-json.js';
import { isPlainObject } from '@berth/contracts/http';

/**
 * The rights without which a caller is not given the answer to the same request of another. A key that is limited to some
 * endpoints could not have made the others' requests; and a secret is shown to the very same rights only.
 */
export const answerRights = (
  { endpointIds, expiresAtMs, scopes }: KeyGrant,
  { showsSecret = false }: { readonly showsSecret?: boolean },
): unknown => [endpointIds?.toSorted() ?? null, ...(showsSecret ? [scopes.toSorted(), expiresAtMs] : [])];

/** The parts of a request that say what it asks for, apart from its route. */
export interface HashedRequest {
  /** As `answerRights` has them. */
  readonly rights: unknown;
  readonly params: unknown;
  readonly query: unknown;
  /** JSON text as it came; empty without a body. */
  readonly body: string;
}

/**
 * Lower-case hex SHA-256. Bodies that are the same JSON value have the same hash, since a client that makes its body anew
 * for a second try may order the members in another way.
 *
 * @throws PlatformError `body-not-json`
 */
export function requestHash({ body, params, query, rights }: HashedRequest): string {
  const value = [rights, params, query, body === '' ? null : readBodyJson(body)];
  return createHash('sha256').update(JSON.stringify(value, withSortedMembers)).digest('hex');
}

const withSortedMembers = (_: string, value: unknown): unknown =>
  isPlainObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
