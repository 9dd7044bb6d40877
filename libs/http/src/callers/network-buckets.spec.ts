import { expect, test } from '@jest/globals';
import { NetworkBuckets } from './network-buckets.js';

test('remembers so many networks and no more, and forgets those first that have not asked for longest', () => {
  const buckets = new NetworkBuckets({ tokensMax: 1, tokensPerSecond: 1 }, 3);
  for (const network of ['a', 'b', 'c', 'a', 'd']) buckets.take(network, 0);
  expect(buckets.size).toBe(3);
  expect(buckets.take('a', 0).isAdmitted).toBe(false);
  expect(buckets.take('b', 0).isAdmitted).toBe(true);
});
