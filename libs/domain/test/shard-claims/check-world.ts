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

function checkOwners(world: ClaimsWorld): void {
  const share = Math.ceil(world.options.shards / world.living.length);
  const counts = new Map<string, number>();
  for (let shard = 0; shard < world.options.shards; shard += 1) {
    const [owner, ...more] = world.trusting(shard);
    if (owner === undefined || more.length > 0)
      throw new Error(`shard ${shard} is trusted by ${world.trusting(shard).length}`);
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  for (const [owner, count] of counts) {
    if (count > share) throw new Error(`${owner} has ${count} of a share of ${share}`);
  }
}
