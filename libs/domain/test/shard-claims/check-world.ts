import { FAULTS_UNTIL_MS, FAULT_MAX_MS, SETTLED_AFTER_MS } from './claim-stories.js';
import { ClaimsWorld } from './claims-world.js';
import type { WorldOptions } from './surroundings.js';

/** After the last fault a silent owner is found out, a share handed over shard by shard, and what is left over taken. */
const CALM_AFTER_MS = 30_000;
const WATCHED_MS = 15_000;
const STEADY_UNTIL_MS = 90_000;

/** Throws where a promise is broken in the story, or is not kept again when it has become calm. */
export function checkCalm(options: WorldOptions): void {
  const world = new ClaimsWorld(options);
  world.runUntil(FAULTS_UNTIL_MS + FAULT_MAX_MS + CALM_AFTER_MS);
  checkSafety(world);
  checkRest(world, world.nowMs + WATCHED_MS);
}

/** Throws where anything moves once it has been shared out. */
export function checkSteady(options: WorldOptions): void {
  const world = new ClaimsWorld(options);
  world.runUntil(SETTLED_AFTER_MS);
  checkRest(world, STEADY_UNTIL_MS);
}

function checkRest(world: ClaimsWorld, untilMs: number): void {
  const { moves } = world.bucket;
  checkOwners(world);
  world.runUntil(untilMs);
  if (world.bucket.moves !== moves) throw new Error(`${world.bucket.moves - moves} claims have moved`);
  checkOwners(world);
  checkSafety(world);
}

function checkSafety(world: ClaimsWorld): void {
  const [first] = [...world.violations, ...world.bucket.violations];
  if (first !== undefined) throw new Error(first);
}

/** One owner for each shard that anybody reads, and none over its share that could give to one below it. */
function checkOwners(world: ClaimsWorld): void {
  const { living, options } = world;
  const share = Math.ceil(options.shards / living.length);
  const shards = Array.from({ length: options.shards }, (_, shard) => shard);
  const owned = new Map(living.map((router) => [router, [] as number[]]));
  for (const shard of shards) {
    const trusting = world.trusting(shard);
    const wanted = living.some((router) => world.canRead(router, shard)) ? 1 : 0;
    if (trusting.length !== wanted) throw new Error(`shard ${shard} is trusted by ${trusting.length}`);
    for (const owner of trusting) owned.get(owner)?.push(shard);
  }
  const takers = living.filter((router) => (owned.get(router)?.length ?? 0) < share);
  for (const [owner, own] of owned) {
    const couldGive = own.some((shard) => takers.some((taker) => world.canRead(taker, shard)));
    if (own.length > share && couldGive)
      throw new Error(`${owner.incarnation} has ${own.length} of a share of ${share}`);
  }
}
