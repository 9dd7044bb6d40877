import fc from 'fast-check';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { EndpointId, WorkerId } from '../ids.js';
import { NO_DEMAND, type Demand, type StrictDemand } from './demand.js';
import { ToldDemands, type DemandWitness, type WitnessedDemand } from './told-demands.js';

const STALE_MS = 10_000;
const SHARD = 3;
const A = 'a' as EndpointId;

const seeing = (running: number | null): Demand | null => (running === null ? null : { ...NO_DEMAND, running });

/** A whole list of one witness, in which the endpoint may be missing. */
const told = (
  witness: DemandWitness,
  running: number | null | undefined,
  { part = { index: 0, count: 1 }, sequence = 1, term = 1 }: Partial<WitnessedDemand> = {},
): WitnessedDemand => ({
  witness,
  term,
  sequence,
  part,
  demands: running === undefined ? new Map() : new Map([[A, seeing(running)]]),
});

/** A listener for long enough, to whom the owner of the shard has just said that it knows of no job of the endpoint. */
function listening(nowMs: number): ToldDemands {
  const demands = new ToldDemands(STALE_MS);
  const owner = { shard: SHARD, term: 1, part: { index: 0, count: 1 }, demands: new Map<EndpointId, Demand>() };
  for (const agoMs of [STALE_MS, STALE_MS / 2, 0]) demands.hear(owner, nowMs - agoMs);
  return demands;
}

const runningAt = (demands: ToldDemands, nowMs: number): number | null =>
  demands.demandOf({ endpointId: A, shard: SHARD, type: 'LOAD_BALANCER' }, nowMs)?.running ?? null;

const witnesses = fc.record({
  kind: fc.constantFrom('router' as const, 'host' as const),
  id: fc.constantFrom('x', 'y'),
});
const word = fc.record({
  witness: witnesses,
  term: fc.integer({ min: 1, max: 3 }),
  sequence: fc.integer({ min: 1, max: 4 }),
  running: fc.option(fc.nat(5), { nil: undefined }),
});
/** One process says one thing with one number. */
const words = fc.uniqueArray(word, {
  selector: ({ sequence, term, witness }) => JSON.stringify([witness, term, sequence]),
});
const nameOf = ({ id, kind }: DemandWitness): string => `${kind}.${id}`;

test('counts of each witness what it said last, however its words are mixed, doubled and late, and adds that up', () => {
  const arrivals = words.chain((said) =>
    fc.tuple(fc.constant(said), fc.shuffledSubarray([...said, ...said], { minLength: said.length })),
  );
  fc.assert(
    fc.property(arrivals, ([said, mixed]) => {
      const [demands, heard] = [listening(0), [...mixed, ...said]];
      for (const { running, witness, ...more } of heard) demands.hear(told(witness, running, more), 0);
      const last = new Map<string, (typeof said)[number]>();
      for (const each of said.toSorted((a, b) => a.term - b.term || a.sequence - b.sequence)) {
        last.set(nameOf(each.witness), each);
      }
      const sum = [...last.values()].reduce((all, { running = 0 }) => all + running, 0);
      expect(runningAt(demands, 0)).toBe(sum);
    }),
    { numRuns: 1_000 },
  );
});

test('counts nothing of a witness whose lists have stopped, and everything of the others', () => {
  const beats = fc.array(fc.record({ witness: witnesses, running: fc.nat(5), atMs: fc.nat(3 * STALE_MS) }));
  fc.assert(
    fc.property(beats, (drawn) => {
      const nowMs = 3 * STALE_MS;
      const inTime = drawn.toSorted((a, b) => a.atMs - b.atMs);
      const demands = listening(0);
      const owner = { shard: SHARD, term: 1, part: { index: 0, count: 1 }, demands: new Map<EndpointId, Demand>() };
      let ownerAtMs = 0;
      const hearOwnerUntil = (atMs: number): void => {
        for (; ownerAtMs <= atMs; ownerAtMs += STALE_MS / 2) demands.hear(owner, ownerAtMs);
      };
      for (const [at, { atMs, running, witness }] of inTime.entries()) {
        hearOwnerUntil(atMs);
        demands.hear(told(witness, running, { sequence: at }), atMs);
      }
      hearOwnerUntil(nowMs);
      const last = new Map(inTime.map((each) => [nameOf(each.witness), each]));
      const fresh = [...last.values()].filter(({ atMs }) => nowMs - atMs < STALE_MS);
      expect(runningAt(demands, nowMs)).toBe(fresh.reduce((sum, { running }) => sum + running, 0));
    }),
    { numRuns: 1_000 },
  );
});

test('says nothing where anybody who is heard does not know', () => {
  const sights = fc.uniqueArray(fc.record({ witness: witnesses, running: fc.option(fc.nat(5)) }), {
    selector: ({ witness }) => nameOf(witness),
  });
  fc.assert(
    fc.property(sights, (each) => {
      const demands = listening(0);
      for (const { running, witness } of each) demands.hear(told(witness, running), 0);
      const isKnown = each.every(({ running }) => running !== null);
      expect(runningAt(demands, 0) !== null).toBe(isKnown);
    }),
  );
});

describe('a load-balanced endpoint', () => {
  const ROUTER: DemandWitness = { kind: 'router', id: 'r' };
  let demands: ToldDemands;
  beforeEach(() => {
    demands = new ToldDemands(STALE_MS);
  });
  const hearOwner = (queued: number, atMs: number): void => {
    const owned = new Map([[A, { ...NO_DEMAND, queuedNormal: queued, oldestQueuedAtMs: 7 }]]);
    demands.hear({ shard: SHARD, term: 1, part: { index: 0, count: 1 }, demands: owned }, atMs);
  };

  /** For as long as it takes to know everybody. */
  const listen = (queued: number): void => {
    for (const atMs of [0, STALE_MS / 2, STALE_MS]) hearOwner(queued, atMs);
  };

  test('is not known before each witness that lives has had the time to tell of it', () => {
    hearOwner(0, 0);
    demands.hear(told(ROUTER, 2), 1);
    hearOwner(0, STALE_MS - 1);
    expect(runningAt(demands, STALE_MS - 1)).toBeNull();
    expect(runningAt(demands, STALE_MS)).toBe(2);
  });

  test('is not known either after a silence of everybody, in which the listener was cut off', () => {
    listen(0);
    hearOwner(0, 2 * STALE_MS);
    expect(runningAt(demands, 2 * STALE_MS)).toBeNull();
    hearOwner(0, 3 * STALE_MS - 1);
    expect([runningAt(demands, 3 * STALE_MS - 1), runningAt(demands, 3 * STALE_MS)]).toEqual([null, 0]);
  });

  test('is not known where the owner of its shard is not heard, since then nobody may be', () => {
    demands.hear(told(ROUTER, 2), 0);
    demands.hear(told(ROUTER, 2, { sequence: 2 }), STALE_MS);
    expect(runningAt(demands, STALE_MS)).toBeNull();
  });

  test('is what its owner and its witnesses see, with the oldest of what waits', () => {
    listen(1);
    const held = { ...NO_DEMAND, queuedNormal: 3, oldestQueuedAtMs: 5, endedLastMinute: 2, executionMsLastMinute: 40 };
    demands.hear({ ...told(ROUTER, 0), demands: new Map([[A, held]]) }, STALE_MS);
    demands.hear(told({ kind: 'host', id: 'h' }, 4), STALE_MS);
    const all = { ...held, queuedNormal: 4, running: 4 };
    expect(demands.demandOf({ endpointId: A, shard: SHARD, type: 'LOAD_BALANCER' }, STALE_MS)).toEqual(all);
    expect(demands.endpointIds(STALE_MS)).toEqual([A]);
  });

  test('is told of each worker that is wanted alone, by whichever routers hold requests for it', () => {
    listen(0);
    const [w1, w2] = ['w1' as WorkerId, 'w2' as WorkerId];
    const held = (...strict: StrictDemand[]) => new Map([[A, { ...NO_DEMAND, queuedNormal: 5, strict }]]);
    const [one, other] = [
      held({ workerId: w1, queued: 2 }),
      held({ workerId: w2, queued: 1 }, { workerId: w1, queued: 3 }),
    ];
    demands.hear({ ...told(ROUTER, 0), demands: one }, STALE_MS);
    demands.hear({ ...told({ kind: 'router', id: 'other' }, 0), demands: other }, STALE_MS);
    demands.hear({ ...told({ kind: 'host', id: 'h' }, 0), demands: one }, STALE_MS);
    const question = { endpointId: A, shard: SHARD, type: 'LOAD_BALANCER', rooms: new Map([['h', 4]]) } as const;
    expect(demands.demandOf(question, STALE_MS)).toMatchObject({
      queuedNormal: 10,
      strict: [
        { workerId: w1, queued: 5 },
        { workerId: w2, queued: 1 },
      ],
    });
  });

  test('is none where everybody who is heard says so, and of a queue no witness is asked', () => {
    listen(0);
    expect(runningAt(demands, STALE_MS)).toBe(0);
    demands.hear(told(ROUTER, 2), STALE_MS);
    expect(demands.demandOf({ endpointId: A, shard: SHARD, type: 'QUEUE' }, STALE_MS)?.running).toBe(0);
  });

  test('is told of in parts of a list as an owner tells, and by a process that starts again from nothing', () => {
    listen(0);
    demands.hear(told(ROUTER, 2, { part: { index: 0, count: 2 } }), STALE_MS);
    expect(runningAt(demands, STALE_MS)).toBe(0);
    demands.hear(told(ROUTER, undefined, { part: { index: 1, count: 2 }, sequence: 2 }), STALE_MS);
    expect(runningAt(demands, STALE_MS)).toBe(2);
    demands.hear(told(ROUTER, undefined, { term: 2 }), STALE_MS);
    demands.hear(told(ROUTER, 2, { sequence: 3 }), STALE_MS);
    expect(runningAt(demands, STALE_MS)).toBe(0);
  });
});
