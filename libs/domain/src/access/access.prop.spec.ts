import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AccountId, EndpointId } from '../ids.js';
import { can, grantRefusal, type KeyGrant } from './can.js';
import { SCOPES } from './scopes.js';

const account = fc.constantFrom('a', 'b').map((id) => id as AccountId);
const endpointId = fc.constantFrom('e1', 'e2', 'e3').map((id) => id as EndpointId);
const grant: fc.Arbitrary<KeyGrant> = fc.record({
  accountId: account,
  scopes: fc.subarray([...SCOPES]),
  endpointIds: fc.option(fc.uniqueArray(endpointId)),
  expiresAtMs: fc.constant(null),
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

test('a key can do nothing that its maker could not', () => {
  fc.assert(
    fc.property(grant, grant, need, (maker, child, wanted) => {
      const issued = { ...child, accountId: maker.accountId };
      if (grantRefusal(maker, issued) !== null) return;
      if (can(issued, wanted, 0).kind === 'allowed') expect(can(maker, wanted, 0).kind).toBe('allowed');
    }),
  );
});
