import { UNKNOWN_ROUTER } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { ModelClaimBucket, ModelShardClaims } from '@berth/testing/log-simulator';
import { beforeEach, expect, test } from '@jest/globals';
import { WatchedClaims } from './watched-claims.js';

const SHARDS = 3;
const router = (incarnation: string) => ({ routerId: incarnation, incarnation, reads: 1 });

let clock: ManualClock;
let bucket: ModelClaimBucket;
let claims: WatchedClaims;
beforeEach(() => {
  clock = new ManualClock();
  bucket = new ModelClaimBucket(clock);
  claims = new WatchedClaims(new ModelShardClaims(clock, bucket), clock, SHARDS);
});

test('nobody is known to own anything before it was looked', async () => {
  expect(claims.unowned).toEqual([0, 1, 2]);
  expect(claims.routers.size).toBe(0);
});

test('a shard is owned while its claim is renewed, and no longer than its silence may last', async () => {
  for (let shard = 0; shard < SHARDS; shard += 1) await claims.claim(shard, { owner: router('a'), term: 1 }, 0);
  const { claims: found } = await claims.survey();
  expect(claims.unowned).toEqual([]);
  let revision = found.get(0)?.revision ?? 0;
  for (let second = 0; second < 5; second += 1) {
    await clock.advance(1_000);
    const outcome = await claims.claim(0, { owner: router('a'), term: 1 }, revision);
    revision = outcome.kind === 'written' ? outcome.revision : 0;
    await claims.survey();
  }
  expect(claims.unowned).toEqual([1, 2]);
});

test('a shard that was handed over has no owner until somebody takes it', async () => {
  for (let shard = 0; shard < SHARDS; shard += 1) await claims.claim(shard, { owner: router('a'), term: 1 }, 0);
  const { claims: found } = await claims.survey();
  await claims.claim(1, { owner: null, term: 1 }, found.get(1)?.revision ?? 0);
  await claims.survey();
  expect(claims.unowned).toEqual([1]);
});

test('where the bucket cannot be looked at nothing is known after a while', async () => {
  for (let shard = 0; shard < SHARDS; shard += 1) await claims.claim(shard, { owner: router('a'), term: 1 }, 0);
  await claims.survey();
  await clock.advance(4_999);
  expect(claims.unowned).toEqual([]);
  await clock.advance(1);
  expect(claims.unowned).toEqual([0, 1, 2]);
});

test('whoever owns a shard or says that it lives is known', async () => {
  await claims.claim(0, { owner: router('owner'), term: 1 }, 0);
  await claims.present(router('listed'));
  await claims.survey();
  expect([...claims.routers].toSorted()).toEqual(['listed', 'owner']);
  await claims.leave('listed');
  await claims.survey();
  expect([...claims.routers]).toEqual(['owner']);
});

test('who wrote what nobody can read is no router that could be asked whether it lives', async () => {
  await claims.claim(0, { owner: UNKNOWN_ROUTER, term: 0 }, 0);
  await claims.survey();
  expect(claims.routers.size).toBe(0);
  expect(claims.unowned).not.toContain(0);
});
