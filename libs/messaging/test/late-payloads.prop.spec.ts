import { outputBlobName } from '@berth/contracts';
import type { EndpointId, JobId } from '@berth/domain';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isLate } from '../src/stream-copies/remove-late-payloads.js';
import { LOG_SHARDS, logShard } from '../src/topology/shards.js';
import { blobPartSubject, chunkSubject } from '../src/topology/subjects.js';

const id = fc.stringMatching(/^[a-z0-9]{1,20}$/);
const lastFacts = fc.array(fc.option(fc.nat()), { minLength: LOG_SHARDS, maxLength: LOG_SHARDS });

test('a payload is late where the last fact of its own shard is older, and nowhere else', () => {
  fc.assert(
    fc.property(fc.record({ endpoint: id, job: id, atMs: fc.nat(), facts: lastFacts }), (given) => {
      const { atMs, endpoint, facts, job } = given;
      const key = { endpointId: endpoint as EndpointId, jobId: job as JobId };
      const last = facts[logShard(key.endpointId)] ?? null;
      const expected = last !== null && last < atMs;
      expect(isLate(chunkSubject(key, 1, 0), atMs, facts)).toBe(expected);
      expect(isLate(blobPartSubject(key, outputBlobName(1), 0), atMs, facts)).toBe(expected);
    }),
  );
});

test('an input, which no attempt has, is never late', () => {
  const key = { endpointId: 'e1' as EndpointId, jobId: 'j1' as JobId };
  const facts = Array.from({ length: LOG_SHARDS }, () => 10_000);
  expect(isLate(chunkSubject(key, 1, 0), 99_000, facts)).toBe(true);
  expect(isLate(blobPartSubject(key, 'in', 0), 99_000, facts)).toBe(false);
});

test('what stands under a subject that is none of ours is left alone', () => {
  const facts = Array.from({ length: LOG_SHARDS }, () => 0);
  for (const subject of ['', 'out', 'out.1', 'out.1.a b.j']) expect(isLate(subject, 1, facts)).toBe(false);
});
