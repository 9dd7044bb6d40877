import { DEMAND_STALE_MS, type DemandMessage } from '@berth/contracts';
import type { Demand, EndpointId } from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DemandBoard, readDemand } from './demand-board.js';

const A = 'a' as EndpointId;
const B = 'b' as EndpointId;

const NONE: Demand = {
  queuedNormal: 0,
  queuedLow: 0,
  running: 0,
  runningLow: 0,
  oldestQueuedAtMs: null,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
};

const message = (queued: Readonly<Record<string, number>>, more: Partial<DemandMessage> = {}): DemandMessage => ({
  routerId: 'router',
  sentAtMs: 0,
  isComplete: true,
  endpoints: Object.entries(queued).map(([id, queuedNormal]) => ({
    ...NONE,
    endpointId: id as EndpointId,
    queuedNormal,
  })),
  ...more,
});

const changes = (queued: Readonly<Record<string, number>>, routerId = 'router'): DemandMessage =>
  message(queued, { isComplete: false, routerId });

let board: DemandBoard;
beforeEach(() => {
  board = new DemandBoard();
});

const queuedAt = (nowMs: number, id = A): number | null => board.demandOf(id, nowMs)?.queuedNormal ?? null;

describe('what one router tells', () => {
  test('is unknown until it has told everything, even of endpoints that it named', () => {
    expect(queuedAt(0)).toBeNull();
    board.take(changes({ a: 3 }), 0);
    expect(queuedAt(0)).toBeNull();
    expect(board.endpointIds(0)).toEqual([]);
    board.take(message({ a: 3 }), 1);
    expect(queuedAt(1)).toBe(3);
  });

  test('is none for an endpoint that a whole list does not name', () => {
    board.take(message({ a: 3 }), 0);
    expect(board.demandOf(B, 0)).toEqual(NONE);
    board.take(message({ b: 1 }), 1);
    expect(board.demandOf(A, 1)).toEqual(NONE);
    expect(board.endpointIds(1)).toEqual([B]);
  });

  test('is changed by what has changed, and the rest stays', () => {
    board.take(message({ a: 3, b: 1 }), 0);
    board.take(changes({ a: 0 }), 1);
    expect([queuedAt(1, A), queuedAt(1, B)]).toEqual([0, 1]);
    expect(board.endpointIds(1)).toEqual([A, B]);
  });

  test('is whole when a long list comes in parts: one that is complete, and changes after it', () => {
    board.take(message({ c: 7 }), 0);
    board.take(message({ a: 1 }), 1);
    board.take(changes({ b: 2 }), 1);
    expect([queuedAt(1, A), queuedAt(1, B), queuedAt(1, 'c' as EndpointId)]).toEqual([1, 2, 0]);
  });

  test('is unknown again once nothing whole was heard for too long, however many changes come', () => {
    board.take(message({ a: 3 }), 0);
    board.take(changes({ a: 4 }), DEMAND_STALE_MS - 1);
    expect(queuedAt(DEMAND_STALE_MS - 1)).toBe(4);
    expect(queuedAt(DEMAND_STALE_MS)).toBeNull();
  });
});

describe('of several routers', () => {
  test('the one heard last counts', () => {
    board.take(message({ a: 1 }, { routerId: 'one' }), 0);
    board.take(message({ a: 2 }, { routerId: 'two' }), 1);
    expect(queuedAt(1)).toBe(2);
    board.take(changes({ a: 5 }, 'one'), 2);
    expect(queuedAt(2)).toBe(5);
  });

  test('one that has just started and told only changes does not hide another', () => {
    board.take(message({ a: 1, b: 1 }, { routerId: 'one' }), 0);
    board.take(changes({ a: 9 }, 'two'), 1);
    expect([queuedAt(1, A), queuedAt(1, B)]).toEqual([1, 1]);
  });

  test('one that fell silent leaves the others', () => {
    board.take(message({ a: 1 }, { routerId: 'one' }), 0);
    board.take(message({ a: 2 }, { routerId: 'two' }), 5_000);
    expect(queuedAt(12_000)).toBe(2);
    board.take(message({ a: 7 }, { routerId: 'one' }), 12_000);
    expect(queuedAt(12_000)).toBe(7);
  });

  test('a flood of names is bounded, and the newest stay', () => {
    for (let index = 0; index < 1_000; index += 1) board.take(message({ a: index }, { routerId: `${index}` }), 0);
    expect(queuedAt(0)).toBe(999);
    board.take(changes({ a: 5 }, '0'), 0);
    expect(queuedAt(0)).toBe(999);
  });
});

describe('a demand message', () => {
  test('is read as it was written', () => {
    const sent = message({ a: 1 });
    expect(readDemand(JSON.stringify(sent))).toEqual(sent);
  });

  test.each([
    ['no JSON', 'demand'],
    ['nothing', 'null'],
    ['no list', '{"routerId":"r","isComplete":true}'],
    ['no router', '{"isComplete":true,"endpoints":[]}'],
    ['an entry that is nothing', '{"routerId":"r","isComplete":true,"endpoints":[null]}'],
    ['an entry without its numbers', '{"routerId":"r","isComplete":true,"endpoints":[{"endpointId":"a"}]}'],
    ['a number that is none', JSON.stringify(message({ a: 1 })).replace('"queuedNormal":1', '"queuedNormal":"1"')],
  ])('is refused when it is %s', (_, text) => {
    expect(() => readDemand(text)).toThrow();
  });
});
