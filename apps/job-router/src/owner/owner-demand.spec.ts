import { toldDemands, type DemandMessage, type DemandShard } from '@berth/contracts';
import { NO_DEMAND, type Demand, type EndpointId, type OwnedDemand } from '@berth/domain';
import type { DemandSource } from '@berth/endpoint-log';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { COMPLETE_INTERVAL_MS, DEBOUNCE_MS, ENDPOINTS_PER_MESSAGE, LOOK_MS, OwnerDemand } from './owner-demand.js';

interface Shard {
  term: number;
  readonly jobs: Map<EndpointId, number | null>;
  readonly changed: Set<EndpointId>;
}

/** What the logs of a router would say. */
class Shards implements DemandSource {
  readonly shards = new Map<number, Shard>();
  readonly taken: number[] = [];

  own(shard: number, term: number): void {
    this.shards.set(shard, { term, jobs: new Map(), changed: new Set() });
  }

  /** @param queued null: nobody knows */
  put(shard: number, endpointId: string, queued: number | null): void {
    const { changed, jobs } = this.shards.get(shard)!;
    jobs.set(endpointId as EndpointId, queued);
    changed.add(endpointId as EndpointId);
  }

  ownedShards(): readonly { readonly shard: number; readonly term: number }[] {
    return [...this.shards].map(([shard, { term }]) => ({ shard, term }));
  }

  takeChanged(max: number): readonly OwnedDemand[] {
    let left = max;
    return [...this.shards].map(([shard, { changed, jobs, term }]) => {
      const ids = [...changed].slice(0, left);
      left -= ids.length;
      for (const id of ids) changed.delete(id);
      return { shard, term, demands: new Map(ids.map((id) => [id, demandOf(jobs.get(id) ?? null)])) };
    });
  }

  takeAll(shard: number): OwnedDemand | null {
    const owned = this.shards.get(shard);
    if (owned === undefined) return null;
    this.taken.push(shard);
    owned.changed.clear();
    const demands = new Map([...owned.jobs].map(([id, queued]) => [id, demandOf(queued)] as const));
    return { shard, term: owned.term, demands };
  }
}

const demandOf = (queuedNormal: number | null): Demand | null =>
  queuedNormal === null ? null : { ...NO_DEMAND, queuedNormal };

let clock: ManualClock;
let source: Shards;
let sent: DemandMessage[];
let demand: OwnerDemand;
let endTurn: () => void;
beforeEach(() => {
  clock = new ManualClock();
  source = new Shards();
  sent = [];
  let atEnd: (() => void)[] = [];
  endTurn = () => {
    const runs = atEnd;
    atEnd = [];
    for (const run of runs) run();
  };
  const publish = (message: DemandMessage): void => void sent.push(message);
  const atEndOfTurn = (run: () => void): void => void atEnd.push(run);
  demand = new OwnerDemand({ source, clock, routerId: 'router', publish, atEndOfTurn });
  demand.start();
});

/** Sent since it was last asked: the shards with their parts, and how many jobs wait at which endpoint. */
const told = (): readonly (readonly [readonly string[], Readonly<Record<string, number | null>>])[] =>
  sent.splice(0).map(({ endpoints, shards = [], unknown = [] }) => {
    const queued: Record<string, number | null> = {};
    for (const { endpointId, queuedNormal } of endpoints) queued[endpointId] = queuedNormal;
    for (const endpointId of unknown) queued[endpointId] = null;
    return [shards.map(nameOf), queued];
  });

const nameOf = ({ part, shard, term }: DemandShard): string =>
  part === null ? `${shard}.${term}` : `${shard}.${term} ${part.index + 1}/${part.count}`;

describe('the owner of shards', () => {
  test('tells of each of them whole as soon as it can, in one message, and then changes almost at once', async () => {
    source.own(1, 7);
    source.own(2, 3);
    source.put(1, 'a', 2);
    source.put(2, 'b', null);
    await clock.advance(LOOK_MS);
    expect(sent).toMatchObject([{ routerId: 'router', sentAtMs: clock.nowMs(), sequence: 1 }]);
    expect(told()).toEqual([[['1.7 1/1', '2.3 1/1'], { a: 2, b: null }]]);
    await clock.advance(4 * DEBOUNCE_MS);
    expect(told()).toEqual([]);
    source.put(1, 'a', 3);
    source.put(1, 'a', 4);
    source.put(1, 'c', 1);
    await clock.advance(DEBOUNCE_MS);
    expect(sent).toMatchObject([{ sequence: 2 }]);
    expect(told()).toEqual([[['1.7'], { a: 4, c: 1 }]]);
  });

  test('tells a change after quiet as soon as it looks, and what follows together', async () => {
    source.own(1, 1);
    await clock.advance(4 * DEBOUNCE_MS);
    told();
    source.put(1, 'a', 1);
    await clock.advance(LOOK_MS);
    expect(told()).toEqual([[['1.1'], { a: 1 }]]);
    source.put(1, 'a', 2);
    await clock.advance(DEBOUNCE_MS - LOOK_MS);
    source.put(1, 'b', 1);
    expect(told()).toEqual([]);
    await clock.advance(LOOK_MS);
    expect(told()).toEqual([[['1.1'], { a: 2, b: 1 }]]);
  });

  test('tells a change after quiet at the end of the turn in which it is hurried, and no change twice', async () => {
    source.own(1, 1);
    await clock.advance(4 * DEBOUNCE_MS);
    told();
    for (const count of [1, 2, 3]) {
      source.put(1, 'a', count);
      demand.hurry();
    }
    expect(told()).toEqual([]);
    endTurn();
    expect(told()).toEqual([[['1.1'], { a: 3 }]]);
    source.put(1, 'a', 4);
    demand.hurry();
    endTurn();
    expect(told()).toEqual([]);
    await clock.advance(DEBOUNCE_MS);
    expect(told()).toEqual([[['1.1'], { a: 4 }]]);
    await clock.advance(DEBOUNCE_MS);
    source.put(1, 'a', 5);
    demand.hurry();
    demand.stop();
    endTurn();
    expect(told()).toEqual([]);
  });

  test('tells everything on a timer, also that there is nothing', async () => {
    source.own(1, 1);
    await clock.advance(DEBOUNCE_MS);
    sent.length = 0;
    await clock.advance(COMPLETE_INTERVAL_MS - DEBOUNCE_MS);
    expect(told()).toEqual([]);
    await clock.advance(DEBOUNCE_MS);
    expect(told()).toEqual([[['1.1 1/1'], {}]]);
  });

  test('says nothing of shards that are not its own, and begins anew with each term', async () => {
    await clock.advance(COMPLETE_INTERVAL_MS);
    expect(sent).toEqual([]);
    source.own(1, 1);
    await clock.advance(DEBOUNCE_MS);
    source.shards.delete(1);
    await clock.advance(COMPLETE_INTERVAL_MS);
    expect(told()).toEqual([[['1.1 1/1'], {}]]);
    source.own(1, 3);
    source.put(1, 'a', 1);
    await clock.advance(DEBOUNCE_MS);
    source.own(1, 5);
    source.put(1, 'a', 2);
    await clock.advance(DEBOUNCE_MS);
    expect(told()).toEqual([
      [['1.3 1/1'], { a: 1 }],
      [['1.5 1/1'], { a: 2 }],
    ]);
  });

  test('tells of a shard that is too long for one message in parts', async () => {
    source.own(1, 1);
    source.own(2, 1);
    const ids = Array.from({ length: ENDPOINTS_PER_MESSAGE + 1 }, (_, at) => `e${at}`);
    for (const id of ids) source.put(1, id, 1);
    await clock.advance(2 * DEBOUNCE_MS);
    const shards = sent.map((message) => message.shards);
    expect(shards).toEqual([
      [{ shard: 1, term: 1, part: { index: 0, count: 2 } }],
      [{ shard: 1, term: 1, part: { index: 1, count: 2 } }],
      [{ shard: 2, term: 1, part: { index: 0, count: 1 } }],
    ]);
    const parts = sent.flatMap((message) => toldDemands(message, () => 1)).filter(({ shard }) => shard === 1);
    expect(parts.flatMap(({ demands }) => [...demands.keys()])).toEqual(ids);
    // By which parts of two lists are told apart.
    expect(parts.map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  test('looks at so many endpoints in one turn and no more, and at each shard in its turn', async () => {
    for (let shard = 0; shard < 6; shard += 1) {
      source.own(shard, 1);
      for (let at = 0; at < ENDPOINTS_PER_MESSAGE / 2; at += 1) source.put(shard, `e${shard}-${at}`, 1);
    }
    await clock.advance(DEBOUNCE_MS);
    expect(source.taken).toEqual([0, 1]);
    // Nothing is said of the changes of a shard that is not yet known whole.
    expect(told().map(([shards]) => shards)).toEqual([['0.1 1/1', '1.1 1/1']]);
    await clock.advance(2 * DEBOUNCE_MS);
    expect(source.taken).toEqual([0, 1, 2, 3, 4, 5]);
    await clock.advance(COMPLETE_INTERVAL_MS);
    expect(source.taken).toEqual([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
  });

  test('says nothing more when it is stopped', async () => {
    source.own(1, 1);
    demand.stop();
    await clock.advance(COMPLETE_INTERVAL_MS);
    expect(sent).toEqual([]);
  });
});
