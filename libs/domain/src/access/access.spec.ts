import { describe, expect, test } from '@jest/globals';
import type { AccountId, EndpointId } from '../ids.js';
import { can, canSee, grantRefusal, reachesAllOf, type AccessNeed, type KeyGrant } from './can.js';
import { SCOPES, SCOPE_PRESETS, expandScopes, isScope, isScopePreset } from './scopes.js';

const OWN = 'account-a' as AccountId;
const FOREIGN = 'account-b' as AccountId;
const EP1 = 'ep1' as EndpointId;
const EP2 = 'ep2' as EndpointId;

const grant = (fields: Partial<KeyGrant> = {}): KeyGrant => ({
  accountId: OWN,
  scopes: ['jobs:read', 'jobs:write'],
  endpointIds: null,
  expiresAtMs: null,
  ...fields,
});

describe('can', () => {
  const own = { id: EP1, accountId: OWN };
  const rows: [string, Partial<KeyGrant>, AccessNeed, string][] = [
    ['scope held', {}, { scope: 'jobs:read', endpoint: own }, 'allowed'],
    ['an operation about no endpoint', {}, { scope: 'jobs:read' }, 'allowed'],
    ['scope missing', {}, { scope: 'serverless:read' }, 'scope-missing'],
    ['write does not imply read', { scopes: ['jobs:write'] }, { scope: 'jobs:read' }, 'scope-missing'],
    ['admin implies nothing else', { scopes: ['admin'] }, { scope: 'jobs:read' }, 'scope-missing'],
    ['unknown endpoint', {}, { scope: 'jobs:read', endpoint: null }, 'endpoint-not-found'],
    ['foreign endpoint', {}, { scope: 'jobs:read', endpoint: { id: EP1, accountId: FOREIGN } }, 'endpoint-not-found'],
    ['in the list', { endpointIds: [EP1] }, { scope: 'jobs:read', endpoint: own }, 'allowed'],
    ['own, outside the list', { endpointIds: [EP2] }, { scope: 'jobs:read', endpoint: own }, 'scope-missing'],
    [
      'foreign, with a list',
      { endpointIds: [EP1] },
      { scope: 'jobs:read', endpoint: { id: EP1, accountId: FOREIGN } },
      'endpoint-not-found',
    ],
    ['unknown endpoint without the scope', {}, { scope: 'serverless:read', endpoint: null }, 'scope-missing'],
    ['expired', { expiresAtMs: 1_000 }, { scope: 'jobs:read', endpoint: own }, 'invalid-api-key'],
    ['not expired yet', { expiresAtMs: 1_001 }, { scope: 'jobs:read', endpoint: own }, 'allowed'],
    ['expired comes before all else', { expiresAtMs: 0 }, { scope: 'admin', endpoint: null }, 'invalid-api-key'],
  ];

  test.each(rows)('%s', (...[, fields, need, expected]) => {
    const verdict = can(grant(fields), need, 1_000);
    expect(verdict.kind === 'allowed' ? 'allowed' : verdict.code).toBe(expected);
  });

  test('an unknown and a foreign endpoint get the same answer, word for word', () => {
    const unknown = can(grant(), { scope: 'jobs:read', endpoint: null }, 0);
    expect(can(grant(), { scope: 'jobs:read', endpoint: { id: EP1, accountId: FOREIGN } }, 0)).toEqual(unknown);
  });

  test('lists show only the endpoints that the key reaches', () => {
    expect([EP1, EP2].filter((id) => canSee(grant({ endpointIds: [EP2] }), id))).toEqual([EP2]);
    expect([EP1, EP2].filter((id) => canSee(grant(), id))).toEqual([EP1, EP2]);
  });
});

describe('grantRefusal', () => {
  test.each<[string, Partial<KeyGrant>, Partial<KeyGrant>, RegExp | null]>([
    ['less than the maker has', {}, { scopes: ['jobs:read'], endpointIds: [EP1] }, null],
    ['a scope the maker lacks', {}, { scopes: ['jobs:read', 'admin'] }, /admin/],
    ['all endpoints by a limited maker', { endpointIds: [EP1] }, {}, /limited/],
    ['another endpoint by a limited maker', { endpointIds: [EP1] }, { endpointIds: [EP1, EP2] }, /ep2/],
    ['the same endpoint by a limited maker', { endpointIds: [EP1] }, { endpointIds: [EP1] }, null],
    ['an end by a maker without one', {}, { expiresAtMs: 1 }, null],
    ['no end by a maker that ends', { expiresAtMs: 9 }, { expiresAtMs: null }, /time/],
    ['a later end', { expiresAtMs: 9 }, { expiresAtMs: 10 }, /time/],
    ['the same end', { expiresAtMs: 9 }, { expiresAtMs: 9 }, null],
  ])('%s', (...[, maker, wanted, expected]) => {
    const refusal = grantRefusal(grant(maker), grant({ scopes: [], ...wanted }));
    if (expected === null) expect(refusal).toBeNull();
    else expect(refusal).toMatch(expected);
  });
});

describe('reachesAllOf', () => {
  test.each<[KeyGrant['endpointIds'], KeyGrant['endpointIds'], boolean]>([
    [null, null, true],
    [null, [EP1], true],
    [[EP1], null, false],
    [[EP1], [EP1], true],
    [[EP1], [EP1, EP2], false],
    [[EP1, EP2], [EP2], true],
  ])('a key for %j and one for %j: %s', (endpointIds, others, expected) => {
    expect(reachesAllOf(grant({ endpointIds }), { endpointIds: others })).toBe(expected);
  });
});

describe('scopes', () => {
  test('the preset all is everything but admin', () => {
    expect([...SCOPE_PRESETS.all, 'admin']).toEqual([...SCOPES]);
  });

  test('the preset read-only reads and nothing else', () => {
    expect(SCOPE_PRESETS['read-only']).toEqual(SCOPES.filter((scope) => /:read$/.test(scope)));
  });

  test.each([
    [['jobs:read'], ['jobs:read'], []],
    [['keys:*'], ['keys:read', 'keys:write'], []],
    [['catalog:*'], ['catalog:read'], []],
    [['jobs:write', 'jobs:*', 'jobs:write'], ['jobs:read', 'jobs:write'], []],
    [['admin'], ['admin'], []],
    [['admin:*', 'jobs', '*', ':*', 'jobs:delete', ''], [], ['admin:*', 'jobs', '*', ':*', 'jobs:delete', '']],
  ])('%j expands', (words, scopes, unknown) => {
    expect(expandScopes(words)).toEqual({ scopes, unknown });
  });

  test('words are told apart', () => {
    expect(isScope('jobs:read')).toBe(true);
    expect(isScope('jobs:*')).toBe(false);
    expect(isScopePreset('all')).toBe(true);
    expect(isScopePreset('toString')).toBe(false);
  });
});
