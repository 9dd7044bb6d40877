import { describe, expect, test } from '@jest/globals';
import type { HostId } from '../ids.js';
import { hostOfNode, isHostOfNode, judgeNodeToken, type TokenReview } from './node-token.js';

const RULE = { audience: 'berth', namespace: 'berth-agents', serviceAccount: 'berth-worker-agent' };
const UID = '0b7e7a0c-9d2f-4c7e-8d57-5f6c7a3b1e11';
const FACT = 'authentication.kubernetes.io';
const EXTRA = {
  [`${FACT}/pod-name`]: ['agent-x'],
  [`${FACT}/pod-uid`]: ['5d3f5a52-0f4b-4f0c-9c39-0c8b6f4f5a01'],
  [`${FACT}/node-name`]: ['node-1'],
  [`${FACT}/node-uid`]: [UID],
};
const GOOD: TokenReview = {
  isAuthenticated: true,
  audiences: ['berth'],
  username: 'system:serviceaccount:berth-agents:berth-worker-agent',
  extra: EXTRA,
};

const without = (fact: string): TokenReview => ({ ...GOOD, extra: { ...EXTRA, [`${FACT}/${fact}`]: [] } });

describe('a token that its cluster has looked at', () => {
  test('lets the node join on which its Pod is', () => {
    expect(judgeNodeToken(GOOD, RULE)).toEqual({ kind: 'node', node: { name: 'node-1', uid: UID } });
  });

  test.each<[string, TokenReview, string]>([
    ['is not authenticated', { ...GOOD, isAuthenticated: false }, 'token-not-authenticated'],
    ['is for another audience', { ...GOOD, audiences: ['https://kubernetes.default.svc'] }, 'token-of-other-audience'],
    ['comes of a cluster that knows no audiences', { ...GOOD, audiences: [] }, 'token-of-other-audience'],
    [
      'is of another account',
      { ...GOOD, username: 'system:serviceaccount:berth-agents:default' },
      'token-of-other-account',
    ],
    [
      'is of the same name elsewhere',
      { ...GOOD, username: 'system:serviceaccount:berth-workers:berth-worker-agent' },
      'token-of-other-account',
    ],
    ['is a person’s', { ...GOOD, username: 'berth-worker-agent' }, 'token-of-other-account'],
    ['is of no Pod', without('pod-uid'), 'token-of-no-pod'],
    ['is of a Pod without a node', without('node-uid'), 'token-of-no-node'],
    ['names no node', without('node-name'), 'token-of-no-node'],
    ['has what is no uid', { ...GOOD, extra: { ...EXTRA, [`${FACT}/node-uid`]: ['agents.*.up'] } }, 'token-of-no-node'],
  ])('that %s lets none', (_, review, fault) => {
    expect(judgeNodeToken(review, RULE)).toEqual({ kind: 'refused', fault });
  });
});

test('the host of a node is told by its uid, and from every host that was invited', () => {
  const host = hostOfNode({ uid: UID });
  expect(host).toBe(`node-${UID}`);
  expect(isHostOfNode(host)).toBe(true);
  expect(isHostOfNode('dgum9plzi2r0' as HostId)).toBe(false);
});
