import { describe, expect, test } from '@jest/globals';
import type { ApiKeySnapshot } from '@berth/contracts';
import type { AccountId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import { Authenticator, type CredentialForm } from './authenticator.js';
import { makeApiKey, prefixOfApiKey } from './api-key.js';

const clock = new ManualClock();
const { hash, key, prefix } = makeApiKey(systemRandom);

const KNOWN: ApiKeySnapshot = {
  id: 'k1',
  accountId: 'a1' as AccountId,
  prefix,
  hash,
  scopes: ['jobs:read', 'of-a-later-version'],
  endpointIds: null,
  expiresAtMs: clock.nowMs() + 1_000,
};

const authenticate = (header: string | undefined, form: CredentialForm = 'bearer'): Promise<unknown> => {
  const directory = { find: async (asked: string) => (asked === prefix ? KNOWN : null) };
  return new Authenticator({ directory, clock, form, metrics: new MetricRegistry() }).authenticate(header, '192.0.2.1');
};

describe('a key', () => {
  test('is known by its public prefix and has the scopes that this version knows', async () => {
    expect(prefixOfApiKey(key)).toBe(prefix);
    expect(await authenticate(`Bearer ${key}`)).toMatchObject({ keyId: 'k1', accountId: 'a1', scopes: ['jobs:read'] });
    expect(await authenticate(`bearer   ${key} `)).toMatchObject({ keyId: 'k1' });
  });

  test('without a scheme opens job paths only', async () => {
    expect(await authenticate(` ${key}`, 'bearer-or-bare')).toMatchObject({ keyId: 'k1' });
    await expect(authenticate(key)).rejects.toMatchObject({ message: 'malformed bearer token' });
  });

  test('with the right prefix and another secret is invalid, like an unknown one', async () => {
    const other = makeApiKey(new SeededRandom(7)).key;
    for (const wrong of [`bk_${prefix}_${other.slice(-40)}`, other]) {
      await expect(authenticate(`Bearer ${wrong}`)).rejects.toMatchObject({
        code: 'invalid-api-key',
        message: 'invalid bearer token',
      });
    }
  });

  test.each([undefined, '', '  '])('that is missing (%j) is told from one that is wrong', async (header) => {
    await expect(authenticate(header)).rejects.toMatchObject({
      code: 'missing-api-key',
      message: 'missing bearer token',
    });
  });

  test.each(['Basic abc', 'Bearer', 'Bearer a b', `Bearer ${key}x`, `Bearer ${key.toUpperCase()}`])(
    'of another form (%s) is malformed',
    async (header) => {
      await expect(authenticate(header, 'bearer-or-bare')).rejects.toMatchObject({ message: 'malformed bearer token' });
    },
  );

  test('is refused from the instant of its end', async () => {
    await clock.advance(999);
    expect(await authenticate(`Bearer ${key}`)).toMatchObject({ keyId: 'k1' });
    await clock.advance(1);
    await expect(authenticate(`Bearer ${key}`)).rejects.toMatchObject({ message: 'expired bearer token' });
  });
});
