import { beforeEach, expect, test } from '@jest/globals';
import type { WitnessMessage } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { InFlightWitness } from './in-flight-witness.js';

let clock: ManualClock;
let inFlight: Map<EndpointId, number>;
let told: WitnessMessage[];
let isConnected: boolean;
let untold: number;
let change: () => void;
let witness: InFlightWitness;

beforeEach(() => {
  clock = new ManualClock();
  inFlight = new Map();
  told = [];
  isConnected = true;
  untold = 0;
  witness = new InFlightWitness({
    hostId: 'h1' as HostId,
    inFlight: () => inFlight,
    onChange: (listener) => {
      change = listener;
      return () => undefined;
    },
    tell: (message) => {
      if (!isConnected) throw new Error('no broker');
      told.push(message);
    },
    onUntold: () => {
      untold += 1;
    },
    clock,
  });
  witness.start();
});

function set(id: string, count: number): void {
  if (count === 0) inFlight.delete(id as EndpointId);
  else inFlight.set(id as EndpointId, count);
  change();
}

const line = ({ endpoints, witness: { part } }: WitnessMessage): string =>
  `${part === null ? 'changes' : `${part.index}/${part.count}`} ${endpoints.map(({ endpointId, running }) => `${endpointId}=${running}`).join(' ')}`.trim();

test('all of it is told every two seconds, also where there is nothing', async () => {
  await clock.advance(4_000);
  expect(told.map(line)).toEqual(['0/1', '0/1', '0/1']);
  expect(told.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  expect(new Set(told.map(({ witness: { kind, id } }) => `${kind} ${id}`))).toEqual(new Set(['host h1']));
});

test('what changes is told at once, an end as well, and a burst together', async () => {
  set('a', 1);
  expect(told.map(line)).toEqual(['0/1', 'changes a=1']);
  for (let count = 2; count <= 50; count += 1) set('a', count);
  set('b', 1);
  expect(told).toHaveLength(2);
  await clock.advance(100);
  expect(told.slice(2).map(line)).toEqual(['changes a=50 b=1']);
  set('b', 0);
  await clock.advance(100);
  expect(told.slice(3).map(line)).toEqual(['changes b=0']);
});

test('many endpoints come in parts', async () => {
  for (let index = 0; index < 1_001; index += 1) inFlight.set(`e${index}` as EndpointId, 1);
  await clock.advance(2_000);
  expect(told.slice(1).map(({ endpoints, witness: { part } }) => [part?.index, part?.count, endpoints.length])).toEqual(
    [
      [0, 3, 500],
      [1, 3, 500],
      [2, 3, 1],
    ],
  );
});

test('what nobody heard is in the next list', async () => {
  isConnected = false;
  set('a', 1);
  expect(untold).toBe(1);
  isConnected = true;
  await clock.advance(2_000);
  expect(told.slice(1).map(line)).toEqual(['0/1 a=1']);
});

test('after its end nothing is told', async () => {
  witness.stop();
  await clock.advance(10_000);
  expect(told).toHaveLength(1);
});
