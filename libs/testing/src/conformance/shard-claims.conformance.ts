import type { ClaimOutcome, RouterPresence, ShardClaim, ShardClaims } from '@berth/endpoint-log';
import { systemRandom } from '@berth/lifecycle';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../clock/eventually.js';
import { LONG_LIFE_MS, SHORT_LIFE_MS, type Conforming } from './conformance.js';

const freshRouter = (): RouterPresence => ({
  routerId: 'router-1',
  incarnation: systemRandom.uuid(),
  reads: 1,
});

/** @param presenceMs how long the opened bucket keeps a router that says nothing more */
type OpenClaims = (presenceMs: number) => Promise<Conforming<ShardClaims>>;

const claimOf = (owner: RouterPresence | null, term: number): ShardClaim => ({ owner, term });

function revisionOf(outcome: ClaimOutcome): number {
  if (outcome.kind !== 'written') throw new Error(`not written: ${outcome.kind}`);
  return outcome.revision;
}

/**
 * What routers rely on to agree who owns which shard.
 *
 * @param open each time with a bucket of which no test before has used the shards that `freshShard` gives
 */
export function shardClaimsConformance(
  name: string,
  open: OpenClaims,
  { freshShard }: { readonly freshShard: () => number },
): void {
  describe(`${name} as claims of shards`, () => {
    claiming(open, freshShard);
    living(open);
  });
}

function claiming(open: OpenClaims, freshShard: () => number): void {
  test('a shard that nobody ever had is claimed over nothing, by one', async () => {
    const { port } = await open(LONG_LIFE_MS);
    const shard = freshShard();
    expect((await port.survey()).claims.has(shard)).toBe(false);
    const routers = Array.from({ length: 5 }, freshRouter);
    const outcomes = await Promise.all(routers.map((router) => port.claim(shard, claimOf(router, 1), 0)));
    expect(outcomes.filter(({ kind }) => kind === 'conflict')).toHaveLength(4);
    const winner = outcomes.findIndex(({ kind }) => kind === 'written');
    expect((await port.survey()).claims.get(shard)).toEqual({
      value: claimOf(routers[winner] ?? null, 1),
      revision: revisionOf(outcomes[winner] ?? { kind: 'unknown' }),
    });
  });

  test('a claim is renewed and taken over exactly its revision', async () => {
    const { port } = await open(LONG_LIFE_MS);
    const shard = freshShard();
    const [owner, taker] = [freshRouter(), freshRouter()];
    const first = revisionOf(await port.claim(shard, claimOf(owner, 1), 0));
    const renewed = revisionOf(await port.claim(shard, claimOf(owner, 1), first));
    expect(renewed).toBeGreaterThan(first);
    expect(await port.claim(shard, claimOf(taker, 2), first)).toEqual({ kind: 'conflict' });
    expect(await port.claim(shard, claimOf(taker, 2), 0)).toEqual({ kind: 'conflict' });
    const freed = revisionOf(await port.claim(shard, claimOf(null, 1), renewed));
    expect((await port.survey()).claims.get(shard)).toEqual({ value: claimOf(null, 1), revision: freed });
    const taken = revisionOf(await port.claim(shard, claimOf(taker, 2), freed));
    expect(await port.claim(shard, claimOf(owner, 1), renewed)).toEqual({ kind: 'conflict' });
    expect((await port.survey()).claims.get(shard)).toEqual({ value: claimOf(taker, 2), revision: taken });
  });

  test('a survey sees each write that was acknowledged before it', async () => {
    const { port } = await open(LONG_LIFE_MS);
    const shard = freshShard();
    let revision = 0;
    for (let term = 1; term <= 30; term += 1) {
      const value = claimOf(freshRouter(), term);
      revision = revisionOf(await port.claim(shard, value, revision));
      expect((await port.survey()).claims.get(shard)).toEqual({ value, revision });
    }
  });
}

function living(open: OpenClaims): void {
  test('a router that is present is told with its newest word, and gone when it leaves', async () => {
    const { port } = await open(LONG_LIFE_MS);
    const router = freshRouter();
    revisionOf(await port.present(router));
    const revision = revisionOf(await port.present({ ...router, reads: 2 }));
    expect((await port.survey()).routers.get(router.incarnation)).toEqual({ value: { ...router, reads: 2 }, revision });
    await port.leave(router.incarnation);
    await port.leave(router.incarnation);
    expect((await port.survey()).routers.has(router.incarnation)).toBe(false);
  });

  test('a router that says nothing more goes by itself', async () => {
    const { elapse, port } = await open(SHORT_LIFE_MS);
    const router = freshRouter();
    // A machine that stands still may let its life pass before anybody looks: then it is said again.
    const isTold = () =>
      eventually(async () => {
        revisionOf(await port.present(router));
        expect((await port.survey()).routers.get(router.incarnation)?.value).toEqual(router);
      });
    await isTold();
    await elapse(SHORT_LIFE_MS);
    await eventually(async () => expect((await port.survey()).routers.has(router.incarnation)).toBe(false));
    await isTold();
  });
}
