import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AccountId, EndpointId } from '../ids.js';
import { can, grantRefusal, reachesAllOf, type KeyGrant } from './can.js';
import { SCOPES } from './scopes.js';

const account = fc.constantFrom('a', 'b').map((id) => id as AccountId);
const endpointId = fc.constantFrom('e1', 'e2', 'e3').map((id) => id as EndpointId);
const grant: fc.Arbitrary<KeyGrant> = fc.record({
  accountId: account,
  scopes: fc.subarray([...SCOPES]),
  endpointIds: fc.option(fc.uniqueArray(endpointId)),
  expiresAtMs: fc.option(fc.integer({ min: 1, max: 4 })),
});
const need = fc.record({
  scope: fc.constantFrom(...SCOPES),
  endpoint: fc.option(fc.record({ id: endpointId, accountId: account })),
});

test('a foreign endpoint is never reached, and never told from an unknown one', () => {
  fc.assert(
    fc.property(grant, need, (key, { scope, endpoint }) => {
      const verdict = can(key, { scope, endpoint }, 0);
      if (endpoint === null || endpoint.accountId === key.accountId) return;
      expect(verdict.kind).toBe('refused');
      expect(verdict).toEqual(can(key, { scope, endpoint: null }, 0));
    }),
  );
});

test('a key can never do what its maker could not', () => {
  fc.assert(
    fc.property(grant, grant, need, fc.integer({ min: 0, max: 5 }), (...[maker, child, wanted, nowMs]) => {
      const issued = { ...child, accountId: maker.accountId };
      if (grantRefusal(maker, issued) !== null) return;
      if (can(issued, wanted, nowMs).kind === 'allowed') expect(can(maker, wanted, nowMs).kind).toBe('allowed');
    }),
  );
});

test('who may issue a key may also revoke it', () => {
  fc.assert(
    fc.property(grant, grant, (maker, child) => {
      if (grantRefusal(maker, child) === null) expect(reachesAllOf(maker, child)).toBe(true);
    }),
  );
});
