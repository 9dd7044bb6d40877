import type { CounterCheckpoint } from '@berth/messaging';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JobView } from '../src/job-view/job-view.service.js';
import { CHANGES, ENDPOINTS, JobWorld, type Change } from './model/job-world.js';

/** A router's view of the world: what `JobViewFeed` and `CheckpointWriter` do to it, a step at a time. */
class Follower {
  readonly view = new JobView();
  readonly #world: JobWorld;
  #evSequence = 0;
  /** Set while a checkpoint settles. */
  #begunAt: number | null = null;

  constructor(world: JobWorld, checkpoint: CounterCheckpoint | null) {
    this.#world = world;
    if (checkpoint === null) return;
    this.view.ledger.restore(checkpoint);
    this.#evSequence = checkpoint.evSequence > world.evLast ? 0 : checkpoint.evSequence;
  }

  tell(): boolean {
    const event = this.#world.events.find(({ evSequence }) => evSequence > this.#evSequence);
    if (event === undefined) return false;
    this.#evSequence = event.evSequence;
    if (event.isRemoved) this.view.remove(event.sighting, event.sighting.expiresAtMs);
    else this.view.applyEvent(event.sighting);
    this.view.ledger.hear(event.sighting);
    return true;
  }

  tellAll(): void {
    while (this.tell());
  }

  /** The records, once the events that there are have been told. */
  reread(): void {
    this.tellAll();
    for (const sighting of this.#world.records()) this.view.apply(sighting);
    this.view.ledger.becomeWhole();
  }

  interrupt(): void {
    this.view.ledger.interrupt();
    this.#begunAt = null;
    if (this.#evSequence > this.#world.evLast) this.#evSequence = 0;
  }

  begin(): void {
    if (this.view.ledger.begin()) this.#begunAt = this.#evSequence;
  }

  /** What events have passed over by now has come by then. */
  settle(): CounterCheckpoint | null {
    const evSequence = this.#begunAt;
    this.#begunAt = null;
    if (evSequence === null) return null;
    this.#world.sourceAll();
    this.tellAll();
    const draft = this.view.ledger.settle();
    return draft === null ? null : { evSequence, ...draft };
  }

  counters(): unknown {
    return ENDPOINTS.map((endpointId) => this.view.ledger.of(endpointId));
  }
}

type Step =
  | { readonly kind: 'change'; readonly slot: number; readonly change: Change }
  | { readonly kind: 'source'; readonly shard: number }
  | { readonly kind: 'lose'; readonly count: number }
  | { readonly kind: 'tell' | 'reread' | 'begin' | 'settle' | 'interrupt' | 'restart' | 'drop' };

const step = (kinds: readonly Step['kind'][], changes: readonly Change[]): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('change'), slot: fc.nat(5), change: fc.constantFrom(...changes) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('source'), shard: fc.nat(1) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('tell') }) },
    ...kinds.map((kind) => ({ weight: 1, arbitrary: fc.record({ kind: fc.constant(kind), count: fc.nat(9) }) })),
  ) as fc.Arbitrary<Step>;

function play(story: readonly Step[]): void {
  const world = new JobWorld();
  let checkpoint: CounterCheckpoint | null = null;
  let follower = new Follower(world, null);
  const acts: { readonly [Kind in Step['kind']]: (step: Extract<Step, { kind: Kind }>) => void } = {
    change: ({ slot, change }) => world.change(slot, change),
    source: ({ shard }) => void world.source(shard),
    tell: () => void follower.tell(),
    reread: () => follower.reread(),
    begin: () => follower.begin(),
    settle: () => {
      checkpoint = follower.settle() ?? checkpoint;
    },
    interrupt: () => follower.interrupt(),
    restart: () => {
      follower = new Follower(world, checkpoint);
    },
    drop: () => world.dropEvents(),
    lose: ({ count }) => {
      world.loseTail(count);
      follower.interrupt();
    },
  };
  for (const each of story) (acts[each.kind] as (step: Step) => void)(each);
  world.sourceAll();
  follower.reread();
  expect(follower.counters()).toEqual(ENDPOINTS.map((endpointId) => world.truth.get(endpointId)));
}

const USUAL = ['reread', 'begin', 'settle', 'interrupt', 'restart'] as const;

test('however events, records, checkpoints and restarts mix, each end and each requeue counts once', () => {
  const story = fc.array(step(USUAL, [...CHANGES, ...CHANGES, 'expire']), { maxLength: 200, size: 'max' });
  fc.assert(fc.property(story, play), { numRuns: 400 });
});

test('so it is when events are dropped or lost, as long as the records are there', () => {
  const story = fc.array(step([...USUAL, 'drop', 'lose'], CHANGES), { maxLength: 200, size: 'max' });
  fc.assert(fc.property(story, play), { numRuns: 400 });
});
