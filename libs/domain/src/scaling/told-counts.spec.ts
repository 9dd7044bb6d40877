import { beforeEach, expect, test } from '@jest/globals';
import type { EndpointId } from '../ids.js';
import { NO_REQUESTS, ToldCounts, type RequestCounts } from './told-counts.js';

const STALE_MS = 5_000;
const [A, B] = ['a' as EndpointId, 'b' as EndpointId];
let told: ToldCounts;
beforeEach(() => {
  told = new ToldCounts(STALE_MS);
});

const of = (held: number, inFlight: number): RequestCounts => ({ held, inFlight });

test('of each router counts what it told last, and all of them together', () => {
  told.hear('r1', new Map([[A, of(1, 2)]]), 0);
  told.hear('r2', new Map([[A, of(3, 4)]]), 0);
  told.hear('r1', new Map([[A, of(2, 0)]]), 1);
  expect(told.of(A, 1)).toEqual(of(5, 4));
  expect(told.of(B, 1)).toEqual(NO_REQUESTS);
});

test('a router that is silent counts no more, for each endpoint by what it told of it', () => {
  const counts = new Map([
    [A, of(1, 0)],
    [B, of(1, 0)],
  ]);
  told.hear('dead', counts, 0);
  told.hear('dead', new Map([[B, of(2, 0)]]), 1_000);
  told.hear('r2', new Map([[A, of(0, 7)]]), STALE_MS - 1);
  expect(told.of(A, STALE_MS - 1)).toEqual(of(1, 7));
  expect(told.of(A, STALE_MS)).toEqual(of(0, 7));
  expect(told.of(B, STALE_MS)).toEqual(of(2, 0));
  told.forget(STALE_MS + 1_000);
  expect(told.of(B, 1_000)).toEqual(NO_REQUESTS);
});

test('more routers than there can be fill no memory, until one that was known is gone', () => {
  for (let index = 0; index < 257; index += 1) told.hear(`r${index}`, new Map([[A, of(1, 0)]]), 0);
  expect(told.of(A, 0)).toEqual(of(256, 0));
  told.forget(STALE_MS);
  told.hear('r256', new Map([[A, of(1, 0)]]), STALE_MS);
  expect(told.of(A, STALE_MS)).toEqual(of(1, 0));
});
