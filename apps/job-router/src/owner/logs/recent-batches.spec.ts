import { encodeJson, type EndpointId } from '@berth/domain';
import { expect, test } from '@jest/globals';
import { RecentBatches } from './recent-batches.js';

const ENDPOINT = 'e1' as EndpointId;
const facts = (text: string): Uint8Array => Buffer.from(encodeJson({ kind: 'opened', atMs: 1, text }));
/** A batch, whose facts take twice its bytes in memory. */
const batch = (bytes: number, text = ''): { bytes: number; facts: Uint8Array } => ({ bytes, facts: facts(text) });

test('a batch is the facts that were written, as often as they are asked for', () => {
  const recent = new RecentBatches(1_000);
  recent.put(ENDPOINT, 7, batch(100, 'seven'));
  for (const _ of [1, 2]) expect(recent.get(ENDPOINT, 7)).toMatchObject([{ text: 'seven' }]);
  expect(recent.get(ENDPOINT, 8)).toBeUndefined();
  expect(recent.get('e2' as EndpointId, 7)).toBeUndefined();
});

test('what was not asked for the longest goes first, and never more is kept than may be', () => {
  const recent = new RecentBatches(1_000);
  for (const sequence of [1, 2, 3]) recent.put(ENDPOINT, sequence, batch(150));
  recent.get(ENDPOINT, 1);
  recent.put(ENDPOINT, 4, batch(150));
  expect([1, 2, 3, 4].filter((sequence) => recent.get(ENDPOINT, sequence) !== undefined)).toEqual([1, 3, 4]);
  expect(recent.bytes).toBe(900);
  recent.put(ENDPOINT, 5, batch(501));
  expect(recent.bytes).toBe(0);
});

test('a batch that comes twice counts once', () => {
  const recent = new RecentBatches(1_000);
  recent.put(ENDPOINT, 1, batch(100));
  recent.put(ENDPOINT, 1, batch(100, 'again'));
  expect(recent.bytes).toBe(200);
  expect(recent.get(ENDPOINT, 1)).toMatchObject([{ text: 'again' }]);
});
