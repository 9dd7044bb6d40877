import type { AccountId, KeyGrant } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseIdempotencyKey } from './idempotency-key.js';
import { answerRights, requestHash } from './request-hash.js';

describe('a key', () => {
  test.each(['a', '3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55', '"quoted"', '!~', 'x'.repeat(255)])('may be %s', (header) => {
    expect(parseIdempotencyKey(header)).toBe(header);
  });

  test.each(['', ' ', 'a b', 'a, b', 'é', '\u0000', '\t', 'x'.repeat(256), ['a', 'b']])('is never %j', (header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining({ code: 'invalid-header' }));
  });

  test('is not needed', () => {
    expect(parseIdempotencyKey(undefined)).toBeNull();
  });
});

describe('the hash of a request', () => {
  const GRANT: KeyGrant = {
    accountId: 'a1' as AccountId,
    scopes: ['keys:write', 'serverless:write'],
    endpointIds: null,
    expiresAtMs: null,
  };
  const hash = (body: string, params: unknown = {}, query: unknown = {}): string =>
    requestHash({ rights: [], params, query, body });
  const hashFor = (grant: Partial<KeyGrant>, showsSecret: boolean): string =>
    requestHash({ rights: answerRights({ ...GRANT, ...grant }, { showsSecret }), params: {}, query: {}, body: '{}' });

  test('is the same for the same JSON value, however it is written', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(value, (given) => {
        expect(hash(JSON.stringify(reversed(given), null, 2))).toBe(hash(JSON.stringify(given)));
      }),
    );
  });

  test('is the same for every key of the account that reaches the same endpoints', () => {
    expect(hashFor({ scopes: ['keys:write'], expiresAtMs: 1 }, false)).toBe(hashFor({}, false));
    expect(hashFor({ endpointIds: [] }, false)).not.toBe(hashFor({}, false));
  });

  test('is, where the answer shows a secret, the same for keys with the very same rights only', () => {
    expect(hashFor({ scopes: ['serverless:write', 'keys:write'] }, true)).toBe(hashFor({}, true));
    expect(hashFor({ expiresAtMs: 1 }, true)).not.toBe(hashFor({}, true));
    expect(hashFor({ scopes: ['keys:write'] }, true)).not.toBe(hashFor({}, true));
    expect(hashFor({ endpointIds: [] }, true)).not.toBe(hashFor({}, true));
  });

  test('is another one for another value, path or query', () => {
    const hashes = [
      hash('{}'),
      hash('{"a":1}'),
      hash('{"a":"1"}'),
      hash('{"a":[1,2]}'),
      hash('{"a":[2,1]}'),
      hash('{"__proto__":1}'),
      hash(''),
      hash('{}', { id: 'a' }),
      hash('{}', {}, { dry: '1' }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test.each(['{', '['.repeat(10_000), `${'['.repeat(10_000)}${']'.repeat(10_000)}`])(
    'of a body that is no JSON object to us is never made (%#)',
    (body) => {
      expect(() => hash(body)).toThrow(expect.objectContaining({ code: 'body-not-json' }));
    },
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
