import { beforeEach, describe, expect, test } from '@jest/globals';
import type { EndpointId } from '../ids.js';
import { NO_DEMAND, type Demand } from './demand.js';
import { ToldDemands, type ToldDemand } from './told-demands.js';

const STALE_MS = 10_000;
const SHARD = 3;

const queued = (count: number): Demand => ({ ...NO_DEMAND, queuedNormal: count });

const told = (
  demands: Readonly<Record<string, number | null>>,
  { part = null, term = 1, shard = SHARD }: Partial<ToldDemand> = {},
): ToldDemand => ({
  shard,
  term,
  part,
  demands: new Map(
    Object.entries(demands).map(([id, count]) => [id as EndpointId, count === null ? null : queued(count)]),
  ),
});
const whole = (demands: Readonly<Record<string, number | null>>, more: Partial<ToldDemand> = {}): ToldDemand =>
  told(demands, { part: { index: 0, count: 1 }, ...more });

let demands: ToldDemands;
beforeEach(() => {
  demands = new ToldDemands(STALE_MS);
});

const of = (id: string, nowMs: number, shard = SHARD): number | null =>
  demands.demandOf({ endpointId: id as EndpointId, shard, type: 'QUEUE' }, nowMs)?.queuedNormal ?? null;

describe('the owner of a shard', () => {
  test('is not believed before it has told of the whole shard', () => {
    demands.hear(told({ a: 3 }), 0);
    expect([of('a', 0), of('b', 0)]).toEqual([null, null]);
    expect(demands.endpointIds(0)).toEqual([]);
    demands.hear(whole({ a: 2 }), 1);
    expect([of('a', 1), of('b', 1)]).toEqual([2, 0]);
    expect(demands.endpointIds(1)).toEqual(['a']);
  });

  test('says what has changed, and nothing of the rest', () => {
    demands.hear(whole({ a: 2, b: 1 }), 0);
    demands.hear(told({ b: 0, c: 4 }), 1);
    expect([of('a', 1), of('b', 1), of('c', 1)]).toEqual([2, 0, 4]);
  });

  test('may not know of an endpoint, which is not the same as none', () => {
    demands.hear(whole({ a: 2, b: null }), 0);
    expect([of('a', 0), of('b', 0), of('c', 0)]).toEqual([2, null, 0]);
    expect(demands.endpointIds(0)).toEqual(['a']);
    demands.hear(told({ a: null, b: 1 }), 1);
    expect([of('a', 1), of('b', 1)]).toEqual([null, 1]);
  });

  test('speaks for its own shard alone', () => {
    demands.hear(whole({ a: 2 }), 0);
    expect(of('x', 0, SHARD + 1)).toBeNull();
  });

  test('is forgotten when it tells nothing whole for too long, however many changes come', () => {
    demands.hear(whole({ a: 2 }), 0);
    demands.hear(told({ a: 5 }), STALE_MS - 1);
    expect(of('a', STALE_MS - 1)).toBe(5);
    expect(of('a', STALE_MS)).toBeNull();
  });
});

describe('a list in parts', () => {
  test('takes nothing away before its last part, and what is named counts at once', () => {
    demands.hear(whole({ a: 1, b: 1 }), 0);
    demands.hear(told({ c: 7 }, { part: { index: 0, count: 2 } }), 1);
    expect([of('a', 1), of('b', 1), of('c', 1)]).toEqual([1, 1, 7]);
    demands.hear(told({ b: 9 }, { part: { index: 1, count: 2 } }), 2);
    expect([of('a', 2), of('b', 2), of('c', 2)]).toEqual([0, 9, 7]);
  });

  test.each([
    ['the first', [1, 2]],
    ['one in the middle', [0, 2]],
    ['the last', [0, 1]],
  ])('is none where %s is lost', (_, heard) => {
    demands.hear(whole({ a: 1 }), 0);
    for (const index of heard) demands.hear(told({ [`b${index}`]: 1 }, { part: { index, count: 3 } }), 1);
    expect(of('a', 1)).toBe(1);
    expect(of('a', STALE_MS)).toBeNull();
  });

  test('is none where the end of it and the beginning of the next one are lost', () => {
    const partOf = (index: number, id: string, sequence: number): ToldDemand => ({
      ...told({ [id]: 1 }, { part: { index, count: 2 } }),
      sequence,
    });
    demands.hear(partOf(0, 'a', 1), 0);
    demands.hear(partOf(1, 'c', 4), 1);
    expect([of('a', 1), of('b', 1), of('c', 1)]).toEqual([null, null, null]);
    demands.hear(partOf(0, 'a', 5), 2);
    demands.hear(partOf(1, 'b', 6), 2);
    expect([of('a', 2), of('b', 2), of('c', 2)]).toEqual([1, 1, 0]);
  });

  test('keeps what changes while it is told', () => {
    demands.hear(whole({ a: 1 }), 0);
    demands.hear(told({ b: 1 }, { part: { index: 0, count: 2 } }), 1);
    demands.hear(told({ a: 6 }), 1);
    demands.hear(told({}, { part: { index: 1, count: 2 } }), 1);
    expect([of('a', 1), of('b', 1)]).toEqual([6, 1]);
  });

  test('counts from its first part on', () => {
    demands.hear(told({ b: 1 }, { part: { index: 0, count: 2 } }), 0);
    demands.hear(told({}, { part: { index: 1, count: 2 } }), 4_000);
    expect(of('b', STALE_MS - 1)).toBe(1);
    expect(of('b', STALE_MS)).toBeNull();
  });
});

describe('another owner', () => {
  test('replaces the word of the one before it, and is awaited until it has told everything', () => {
    demands.hear(whole({ a: 0, b: 4 }), 0);
    demands.hear(told({ a: 1 }, { term: 2 }), 1);
    expect([of('a', 1), of('b', 1)]).toEqual([null, null]);
    demands.hear(whole({ a: 1 }, { term: 2 }), 2);
    expect([of('a', 2), of('b', 2)]).toEqual([1, 0]);
  });

  test('is not contradicted by what the one before it had said', () => {
    demands.hear(whole({ a: 1 }, { term: 2 }), 0);
    demands.hear(whole({}), 1);
    demands.hear(told({ a: 0 }), 1);
    expect(of('a', 1)).toBe(1);
  });

  test('is believed with a low term where nobody has spoken with a higher one for long', () => {
    demands.hear(whole({ a: 1 }, { term: 900 }), 0);
    demands.hear(whole({ a: 2 }), STALE_MS);
    expect(of('a', STALE_MS)).toBe(2);
  });
});
