import { shardClaimsConformance } from '../src/conformance/index.js';
import { ManualClock } from '../src/index.js';
import { ModelClaimBucket, ModelShardClaims } from '../src/log-simulator/index.js';

let shard = 0;

shardClaimsConformance(
  'the model of a bucket',
  (presenceMs) => {
    const clock = new ManualClock();
    const port = new ModelShardClaims(clock, new ModelClaimBucket(clock, presenceMs));
    return Promise.resolve({ port, elapse: (ms) => clock.advance(ms) });
  },
  { freshShard: () => (shard += 1) },
);
