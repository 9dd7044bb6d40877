import { describe, expect, test } from '@jest/globals';
import { isNodeToken, readNodeToken } from './node-token.js';

const UID = '0b7e7a0c-9d2f-4c7e-8d57-5f6c7a3b1e11';
const CLAIMS = {
  aud: ['berth'],
  exp: 1_800_000_000,
  sub: 'system:serviceaccount:berth-agents:berth-worker-agent',
  'kubernetes.io': { namespace: 'berth-agents', node: { name: 'node-1', uid: UID }, pod: { name: 'agent', uid: 'x' } },
};

const tokenOf = (claims: unknown): string => {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`;
};

describe('what a token of a cluster says of itself', () => {
  test('is its node, its account, its audiences and its end', () => {
    expect(readNodeToken(tokenOf(CLAIMS))).toEqual({
      nodeUid: UID,
      subject: CLAIMS.sub,
      audiences: ['berth'],
      expiresAtMs: 1_800_000_000_000,
    });
  });

  test.each<[string, string]>([
    ['of no node', tokenOf({ ...CLAIMS, 'kubernetes.io': { namespace: 'berth-agents' } })],
    ['whose node has no uid of a node', tokenOf({ ...CLAIMS, 'kubernetes.io': { node: { uid: '>' } } })],
    ['without an end', tokenOf({ ...CLAIMS, exp: undefined })],
    ['whose claims are a list', tokenOf([])],
    ['whose claims are no JSON', 'a.b.c'],
    ['of a host that was invited', 'bjt_dgum9plzi2r0_abc'],
    ['that is endless', `${tokenOf(CLAIMS)}${'c'.repeat(4_000)}`],
  ])('is nothing for one %s', (_, token) => {
    expect(readNodeToken(token)).toBeNull();
  });

  test('is told from a join token by its form', () => {
    expect(isNodeToken(tokenOf(CLAIMS))).toBe(true);
    expect(isNodeToken('bjt_dgum9plzi2r0_abc')).toBe(false);
  });
});
