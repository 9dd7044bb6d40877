import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { callerNetwork } from './caller-network.js';
import { followPassage, startPassage, type LeastRate } from './least-rate.js';
import { fullBucket, returnToken, takeToken } from './token-bucket.js';

describe('a bucket of tokens', () => {
  const LIMIT = { tokensMax: 5, tokensPerSecond: 2 };

  test('never admits more in any time than it holds and what flows in meanwhile', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 2_000 }), { maxLength: 100 }), (pauses) => {
        let [nowMs, latestMs, admitted] = [0, 0, 0];
        let bucket = fullBucket(LIMIT, nowMs);
        let backwardsMs = 0;
        for (const pause of pauses) {
          nowMs += pause;
          if (pause < 0) backwardsMs -= pause;
          latestMs = Math.max(latestMs, nowMs);
          const verdict = takeToken(bucket, LIMIT, nowMs);
          bucket = verdict.bucket;
          if (verdict.isAdmitted) admitted += 1;
        }
        const flowed = ((latestMs + backwardsMs) / 1_000) * LIMIT.tokensPerSecond;
        expect(admitted).toBeLessThanOrEqual(LIMIT.tokensMax + flowed);
      }),
    );
  });

  test('has a token again after the seconds that it says, and holds no more than it may', () => {
    let bucket = fullBucket(LIMIT, 0);
    for (let n = 0; n < LIMIT.tokensMax; n += 1) bucket = takeToken(bucket, LIMIT, 0).bucket;
    const refused = takeToken(bucket, LIMIT, 0);
    expect(refused).toMatchObject({ isAdmitted: false, retryAfterSeconds: 1 });
    expect(takeToken(refused.bucket, LIMIT, refused.retryAfterSeconds * 1_000).isAdmitted).toBe(true);
    expect(returnToken(fullBucket(LIMIT, 0), LIMIT).tokens).toBe(LIMIT.tokensMax);
  });
});

describe('a least rate', () => {
  const RATE: LeastRate = { bytesPerSecond: 100, graceMs: 10_000, aheadMaxMs: 30_000 };
  const looks = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 200 });

  test('is never missed by what moves at it, from the first second on', () => {
    fc.assert(
      fc.property(looks, (extra) => {
        let passage = startPassage(RATE, 0);
        for (const [index, more] of extra.entries()) {
          const verdict = followPassage(passage, RATE, { bytes: 100 + more, nowMs: (index + 1) * 1_000 });
          expect(verdict.isTooSlow).toBe(false);
          passage = verdict.passage;
        }
      }),
    );
  });

  test('is missed within 30 s of the last byte, whatever came before', () => {
    fc.assert(
      fc.property(looks, (moved) => {
        let passage = startPassage(RATE, 0);
        let nowMs = 0;
        for (const bytes of moved) passage = followPassage(passage, RATE, { bytes, nowMs: (nowMs += 1_000) }).passage;
        expect(followPassage(passage, RATE, { bytes: 0, nowMs: nowMs + 30_001 }).isTooSlow).toBe(true);
      }),
    );
  });
});

describe('the network of a caller', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s is %s', (address, network) => {
    expect(callerNetwork(address)).toBe(network);
  });
});
