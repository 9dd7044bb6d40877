import { DEMAND_STALE_MS, ownersDemand, type DemandMessage, type WitnessMessage } from '@berth/contracts';
import type { Demand, EndpointId, HostId, ToldDemand } from '@berth/domain';
import { logShard } from '@berth/messaging';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DemandBoard } from './demand-board.js';
import { readDemand, readHostDemand } from './read-demand.js';

const A = 'a' as EndpointId;
const B = 'b' as EndpointId;

const NO_HOSTS: ReadonlyMap<HostId, number> = new Map();

const NONE: Demand = {
  queuedNormal: 0,
  queuedLow: 0,
  running: 0,
  runningLow: 0,
  oldestQueuedAtMs: null,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
};

/** What a router says of the shards in which these endpoints lie. */
function owned(
  queued: Readonly<Record<string, number | null>>,
  { part = { index: 0, count: 1 }, routerId = 'router', term = 1 }: Partial<ToldDemand & DemandMessage> = {},
): DemandMessage {
  const shards = new Map<number, Map<EndpointId, Demand | null>>();
  for (const [id, queuedNormal] of Object.entries(queued)) {
    const shard = logShard(id as EndpointId);
    const demands = shards.get(shard) ?? new Map<EndpointId, Demand | null>();
    shards.set(shard, demands.set(id as EndpointId, queuedNormal === null ? null : { ...NONE, queuedNormal }));
  }
  const told = [...shards].map(([shard, demands]) => ({ shard, term, part, demands }));
  return ownersDemand({ routerId, sentAtMs: 0 }, told);
}

let board: DemandBoard;
beforeEach(() => {
  board = new DemandBoard();
});

const queuedAt = (nowMs: number, id = A): number | null =>
  board.demandOf({ id, type: 'QUEUE', rooms: NO_HOSTS }, nowMs)?.queuedNormal ?? null;

describe('routers that own shards', () => {
  test('count together, each for its own', () => {
    expect(logShard(A)).not.toBe(logShard(B));
    board.take(owned({ a: 1 }, { routerId: 'one' }), 0);
    expect([queuedAt(0, A), queuedAt(0, B)]).toEqual([1, null]);
    board.take(owned({ b: 2 }, { routerId: 'two' }), 1);
    expect([queuedAt(1, A), queuedAt(1, B)]).toEqual([1, 2]);
    expect(board.endpointIds(1)).toEqual([A, B]);
    board.take(owned({ b: 3 }, { routerId: 'two' }), DEMAND_STALE_MS);
    expect([queuedAt(DEMAND_STALE_MS, A), queuedAt(DEMAND_STALE_MS, B)]).toEqual([null, 3]);
  });

  test('replace each other, and what the former owner had said comes too late', () => {
    board.take(owned({ a: 1 }, { routerId: 'one', term: 1 }), 0);
    board.take(owned({ a: 2 }, { routerId: 'two', term: 2 }), 1);
    board.take(owned({ a: 0 }, { routerId: 'one', term: 1 }), 2);
    expect(queuedAt(2)).toBe(2);
  });

  test('may not know of an endpoint', () => {
    board.take(owned({ a: null, b: 1 }), 0);
    expect([queuedAt(0, A), queuedAt(0, B)]).toEqual([null, 1]);
    expect(board.endpointIds(0)).toEqual([B]);
  });
});

/** What a router holds of the requests to one endpoint. */
const witnessed = (queuedNormal: number, id: string, sequence = 1): WitnessMessage => ({
  witness: { kind: 'router', id, term: 1, part: { index: 0, count: 1 } },
  sentAtMs: 0,
  sequence,
  endpoints: [{ endpointId: A, ...NONE, queuedNormal }],
  unknown: [],
});

describe('witnesses of a load-balanced endpoint', () => {
  const balancedAt = (nowMs: number): number | null =>
    board.demandOf({ id: A, type: 'LOAD_BALANCER', rooms: NO_HOSTS }, nowMs)?.queuedNormal ?? null;

  const listen = (): void => {
    for (const atMs of [0, DEMAND_STALE_MS / 2, DEMAND_STALE_MS]) board.take(owned({ a: 0 }), atMs);
  };

  test('are added up, each with what it said last, and only for as long as it is heard', () => {
    listen();
    board.take(witnessed(1, 'one'), DEMAND_STALE_MS);
    board.take(witnessed(4, 'two', 2), DEMAND_STALE_MS);
    board.take(witnessed(9, 'two', 1), DEMAND_STALE_MS);
    expect([balancedAt(DEMAND_STALE_MS), queuedAt(DEMAND_STALE_MS)]).toEqual([5, 0]);
    board.take(owned({ a: 0 }), 2 * DEMAND_STALE_MS - 1);
    board.take(witnessed(1, 'one', 2), 2 * DEMAND_STALE_MS - 1);
    expect(balancedAt(2 * DEMAND_STALE_MS)).toBe(1);
  });

  test('may not know of it', () => {
    listen();
    board.take({ ...witnessed(1, 'one'), endpoints: [], unknown: [A] }, DEMAND_STALE_MS);
    expect(balancedAt(DEMAND_STALE_MS)).toBeNull();
  });
});

describe('a host', () => {
  const H1 = 'h1' as HostId;
  const ofHost = (running: number, id = 'h1'): WitnessMessage => ({
    ...witnessed(0, id),
    witness: { kind: 'host', id, term: 1, part: { index: 0, count: 1 } },
    endpoints: [{ endpointId: A, ...NONE, running }],
  });

  test('is believed as much as its workers of an endpoint can have, and makes no demand of others', () => {
    for (const atMs of [0, DEMAND_STALE_MS / 2, DEMAND_STALE_MS]) board.take(owned({ b: 0 }), atMs);
    for (const atMs of [0, DEMAND_STALE_MS / 2, DEMAND_STALE_MS]) board.take(owned({ a: 0 }), atMs);
    board.take(ofHost(3), DEMAND_STALE_MS);
    board.take({ ...ofHost(9, 'h2'), unknown: [B] }, DEMAND_STALE_MS);
    const runningAt = (rooms: ReadonlyMap<HostId, number>) =>
      board.demandOf({ id: A, type: 'LOAD_BALANCER', rooms }, DEMAND_STALE_MS)?.running;
    expect([runningAt(new Map([[H1, 4]])), runningAt(new Map([[H1, 2]]))]).toEqual([3, 2]);
    expect(runningAt(NO_HOSTS)).toBe(0);
    const unknownOf = board.demandOf({ id: B, type: 'LOAD_BALANCER', rooms: new Map([[H1, 4]]) }, DEMAND_STALE_MS);
    expect(unknownOf).toEqual(NONE);
  });

  test('names no endpoint that would be looked at for its sake', () => {
    board.take(ofHost(3), 0);
    expect(board.endpointIds(0)).toEqual([]);
  });

  test('speaks for itself alone, within bounds, and nobody else for it', () => {
    const text = JSON.stringify(ofHost(1));
    expect(readHostDemand(text, H1)).toEqual(ofHost(1));
    expect(() => readHostDemand(text, 'h2' as HostId)).toThrow('no demand of the host');
    expect(() => readHostDemand(JSON.stringify(witnessed(1, 'h1')), H1)).toThrow('no demand of the host');
    expect(() => readHostDemand(JSON.stringify(owned({ a: 1 })), H1)).toThrow('no demand of the host');
    expect(() => readDemand(text)).toThrow('no demand of a router');
    const many = { ...ofHost(1), unknown: Array.from({ length: 4_096 }, (_, index) => `e${index}`) };
    expect(() => readHostDemand(JSON.stringify(many), H1)).toThrow('too much');
  });
});

describe('a demand message', () => {
  test.each([
    ['shards', owned({ a: 1, b: null })],
    ['changes in shards', owned({ a: 1 }, { part: null })],
    ['shards by one that counts its messages', { ...owned({ a: 1 }), sequence: 7 }],
    ['a witness', witnessed(3, 'one')],
  ])('of %s is read as it was written', (_, sent) => {
    expect(readDemand(JSON.stringify(sent))).toEqual(sent);
  });

  test.each([
    ['of a shard that there is not', { endpoints: [], shards: [{ shard: 16, term: 1, part: null }] }],
    ['without a term', { shards: [{ shard: logShard(A), part: null }] }],
    ['of half a part', { shards: [{ shard: logShard(A), term: 1, part: { index: 0 } }] }],
    ['of one shard twice', { shards: [1, 2].map((term) => ({ shard: logShard(A), term, part: null })) }],
    ['of an endpoint elsewhere', { shards: [{ shard: logShard(B), term: 1, part: null }] }],
    ['of nobody', { unknown: [null] }],
    ['of somebody elsewhere', { unknown: [B] }],
    ['of no list', { shards: {} }],
    ['of all jobs there are', { shards: undefined }],
    ['of nobody knows whom', { unknown: undefined }],
  ])('is refused when it is %s', (_, wrong) => {
    expect(() => readDemand(JSON.stringify({ ...owned({ a: 1 }), ...wrong }))).toThrow('no demand');
  });

  test.each([
    ['nobody', { id: '' }],
    ['an unknown kind', { kind: 'owner' }],
    ['no term', { term: undefined }],
    ['half a part', { part: { index: 0 } }],
  ])('of a witness is refused when it is of %s', (_, wrong) => {
    const sent = witnessed(1, 'one');
    expect(() => readDemand(JSON.stringify({ ...sent, witness: { ...sent.witness, ...wrong } }))).toThrow('no demand');
  });

  test.each([
    ['no JSON', 'demand'],
    ['nothing', 'null'],
    ['no list', JSON.stringify({ ...owned({ a: 1 }), endpoints: {} })],
    ['no router', JSON.stringify({ ...owned({ a: 1 }), routerId: undefined })],
    ['an entry that is nothing', JSON.stringify({ ...owned({ a: 1 }), endpoints: [null] })],
    ['an entry without its numbers', JSON.stringify({ ...owned({ a: 1 }), endpoints: [{ endpointId: 'a' }] })],
    ['a number that is none', JSON.stringify(owned({ a: 1 })).replace('"queuedNormal":1', '"queuedNormal":"1"')],
  ])('is refused when it is %s', (_, text) => {
    expect(() => readDemand(text)).toThrow();
  });
});
