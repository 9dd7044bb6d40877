import type { ErrorCode } from '../errors/index.js';
import type { AccountId, EndpointId } from '../ids.js';
import type { Scope } from './scopes.js';

/** The rights that an API key grants. */
export interface KeyGrant {
  readonly accountId: AccountId;
  readonly scopes: readonly Scope[];
  /** The only endpoints that the key reaches; null for all of its account. */
  readonly endpointIds: readonly EndpointId[] | null;
  /** Null: never. */
  readonly expiresAtMs: number | null;
}

/** The rights that an operation asks for. */
export interface AccessNeed {
  readonly scope: Scope;
  /**
   * The endpoint that the operation is about: left out where it is about none, null where the id is unknown. Unknown
   * and foreign get the same answer.
   */
  readonly endpoint?: { readonly id: EndpointId; readonly accountId: AccountId } | null;
}

export type AccessVerdict =
  | { readonly kind: 'allowed' }
  | {
      readonly kind: 'refused';
      readonly code: Extract<ErrorCode, 'invalid-api-key' | 'scope-missing' | 'endpoint-not-found'>;
      /** Public. */
      readonly detail: string;
    };

/**
 * Whether a key may do what is asked: expired 401, scope missing 403, endpoint unknown or of another account 404,
 * endpoint of the own account outside the key's list 403 (API decisions 1.5). The scope comes before the endpoint,
 * so a key without it learns nothing of what exists.
 */
export function can(key: KeyGrant, need: AccessNeed, nowMs: number): AccessVerdict {
  if (isExpired(key, nowMs)) return { kind: 'refused', code: 'invalid-api-key', detail: 'The API key has expired.' };
  if (!key.scopes.includes(need.scope)) {
    return { kind: 'refused', code: 'scope-missing', detail: `The API key lacks the scope '${need.scope}'.` };
  }
  return need.endpoint === undefined ? { kind: 'allowed' } : reaches(key, need.endpoint);
}

/** Whether lists that the key asks for may show the endpoint of its own account. */
export const canSee = (key: KeyGrant, endpointId: EndpointId): boolean =>
  key.endpointIds === null || key.endpointIds.includes(endpointId);

/**
 * Why `maker` may not issue a key that grants `wanted`, or null when it may: nobody grants what they lack, be it a scope,
 * an endpoint or time (API decisions 1.7).
 */
export function grantRefusal(
  maker: KeyGrant,
  wanted: Pick<KeyGrant, 'scopes' | 'endpointIds' | 'expiresAtMs'>,
): string | null {
  const missing = wanted.scopes.filter((scope) => !maker.scopes.includes(scope));
  if (missing.length > 0) return `The API key cannot grant what it lacks: ${missing.join(', ')}.`;
  if (outlives(wanted, maker)) return 'The API key cannot grant more time than it has itself.';
  if (reachesAllOf(maker, wanted)) return null;
  if (wanted.endpointIds === null) return 'The API key is limited to some endpoints and cannot grant all of them.';
  const beyond = wanted.endpointIds.filter((id) => !canSee(maker, id));
  return `The API key does not reach the endpoints ${beyond.join(', ')}.`;
}

/**
 * Whether the key reaches every endpoint that the other key of its account reaches. Where it does not, it neither sees
 * nor revokes that key: revoking it would end work on endpoints that are none of its business.
 */
export const reachesAllOf = (key: KeyGrant, other: Pick<KeyGrant, 'endpointIds'>): boolean =>
  key.endpointIds === null || (other.endpointIds?.every((id) => canSee(key, id)) ?? false);

const outlives = (one: Pick<KeyGrant, 'expiresAtMs'>, other: Pick<KeyGrant, 'expiresAtMs'>): boolean =>
  other.expiresAtMs !== null && (one.expiresAtMs === null || one.expiresAtMs > other.expiresAtMs);

const isExpired = (key: KeyGrant, nowMs: number): boolean => key.expiresAtMs !== null && nowMs >= key.expiresAtMs;

function reaches(key: KeyGrant, endpoint: NonNullable<AccessNeed['endpoint']> | null): AccessVerdict {
  if (endpoint === null || endpoint.accountId !== key.accountId) {
    return { kind: 'refused', code: 'endpoint-not-found', detail: 'No such endpoint.' };
  }
  if (canSee(key, endpoint.id)) return { kind: 'allowed' };
  return { kind: 'refused', code: 'scope-missing', detail: `The API key does not reach the endpoint ${endpoint.id}.` };
}
