import { shardClaimsConformance } from '../src/conformance/index.js';
import { ManualClock } from '../src/index.js';
import { ModelClaimBucket, ModelShardClaims } from '../src/log-simulator/index.js';

const PRESENCE_MS = 1_000;
let shard = 0;

shardClaimsConformance(
  'the model of a bucket',
  () => {
    const clock = new ManualClock();
    const port = new ModelShardClaims(clock, new ModelClaimBucket(clock, PRESENCE_MS));
    return Promise.resolve({ port, elapse: (ms) => clock.advance(ms) });
  },
  { freshShard: () => (shard += 1), presenceMs: PRESENCE_MS },
);
