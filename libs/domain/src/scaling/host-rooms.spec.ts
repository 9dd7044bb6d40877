import fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import type { EndpointId, HostId } from '../ids.js';
import { NO_DEMAND, type Demand } from './demand.js';
import { believedOfHost, hostRooms } from './host-rooms.js';
import { ToldDemands, type WitnessedDemand } from './told-demands.js';

const STALE_MS = 10_000;
const SHARD = 3;
const MANY = 5_000;
const A = 'a' as EndpointId;
const [H1, H2] = ['h1' as HostId, 'h2' as HostId];

const counts = fc.nat(1_000_000);
const demand: fc.Arbitrary<Demand> = fc.record({
  queuedNormal: counts,
  queuedLow: counts,
  running: counts,
  runningLow: counts,
  oldestQueuedAtMs: fc.option(counts),
  endedLastMinute: counts,
  executionMsLastMinute: counts,
});

describe('the room of hosts', () => {
  test('is what the workers that they have can take together', () => {
    expect(hostRooms([{ hostId: H1 }, { hostId: H2 }, { hostId: H1 }], 8)).toEqual(
      new Map([
        [H1, 16],
        [H2, 8],
      ]),
    );
    expect(hostRooms([], 8)).toEqual(new Map());
  });

  test('bounds what a host is believed: requests in flight, never more than there is room for, and nothing else', () => {
    fc.assert(
      fc.property(demand, counts, (told, room) => {
        expect(believedOfHost(told, room)).toEqual({ ...NO_DEMAND, running: Math.min(told.running, room) });
      }),
    );
  });

  test('is taken for full where its host says that it does not know', () => {
    expect(believedOfHost(null, 3)).toEqual({ ...NO_DEMAND, running: 3 });
  });
});

describe('a hostile host', () => {
  const ofHost = (more: Pick<WitnessedDemand, 'demands' | 'sequence'> & Partial<WitnessedDemand>): WitnessedDemand => ({
    witness: { kind: 'host', id: H1 },
    term: 1,
    part: { index: 0, count: 1 },
    ...more,
  });

  function listening(): ToldDemands {
    const demands = new ToldDemands(STALE_MS);
    const owner = { shard: SHARD, term: 1, part: { index: 0, count: 1 }, demands: new Map<EndpointId, Demand>() };
    for (const atMs of [0, STALE_MS / 2, STALE_MS]) demands.hear(owner, atMs);
    return demands;
  }
  const at = (demands: ToldDemands, rooms: ReadonlyMap<HostId, number>, endpointId = A): Demand | null =>
    demands.demandOf({ endpointId, shard: SHARD, type: 'LOAD_BALANCER', rooms }, STALE_MS);

  test('adds no more to an endpoint than its own workers can have, and hides no other’s part', () => {
    const demands = listening();
    const boast = {
      ...NO_DEMAND,
      running: 1_000_000,
      queuedNormal: 1_000_000,
      endedLastMinute: 9,
      oldestQueuedAtMs: 1,
    };
    demands.hear(ofHost({ sequence: 1, demands: new Map([[A, boast]]) }), STALE_MS);
    expect(at(demands, new Map([[H1, 16]]))).toEqual({ ...NO_DEMAND, running: 16 });
    expect(at(demands, new Map([[H2, 16]]))).toEqual(NO_DEMAND);
    demands.hear(ofHost({ sequence: 2, demands: new Map([[A, null]]) }), STALE_MS);
    expect(at(demands, new Map([[H1, 16]]))).toEqual({ ...NO_DEMAND, running: 16 });
  });

  test('is remembered of so many endpoints and no more, whatever it names in changes and lists without an end', () => {
    const demands = listening();
    const running = (id: string): Demand | null => at(demands, new Map([[H1, 9]]), id as EndpointId);
    const names = Array.from({ length: MANY }, (_, index) => `e${index}` as EndpointId);
    const told = new Map(names.map((id) => [id, { ...NO_DEMAND, running: 1 }]));
    demands.hear(ofHost({ sequence: 1, demands: new Map() }), STALE_MS);
    demands.hear(ofHost({ sequence: 2, part: { index: 0, count: 9 }, demands: told }), STALE_MS);
    expect([running('e0')?.running, running(`e${MANY - 1}`)?.running]).toEqual([1, 0]);
    // One that is known already may change.
    const change = new Map([['e0' as EndpointId, { ...NO_DEMAND, running: 2 }]]);
    demands.hear(ofHost({ sequence: 3, part: null, demands: change }), STALE_MS);
    expect(running('e0')?.running).toBe(2);
  });
});
