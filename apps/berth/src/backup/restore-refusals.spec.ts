import { expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../program/index.js';
import { keyRefusal, schemaRefusal } from './restore-refusals.js';

test('tables of the same migrations fit', () => {
  expect(schemaRefusal(['a1', 'b2'], ['a1', 'b2'])).toBeNull();
});

test.each([
  ['no tables', null, /has no tables/],
  ['older ones', ['a1'], /older version than the backup: b2/],
  ['newer ones', ['a1', 'b2', 'c3'], /newer version than the backup.*c3/],
] as const)('%s are refused, and what to run is said', (_, there, message) => {
  const refusal = schemaRefusal(['a1', 'b2'], there);
  expect(refusal?.message).toMatch(message);
  expect(refusal?.message).toContain('Nothing was changed');
  expect(refusal?.status).toBe(EXIT_STATUS.misused);
});

test('secrets can be opened where every key is known, and others may be known as well', () => {
  expect(keyRefusal(['k1'], ['k1'])).toBeNull();
  expect(keyRefusal(['k1', 'k2'], ['k3', 'k2', 'k1'])).toBeNull();
});

test('one unknown key is enough for a refusal', () => {
  expect(keyRefusal(['k1'], ['k2'])?.message).toContain('another BERTH_SECRET_KEY');
  expect(keyRefusal(['k1', 'k2'], ['k1'])?.message).toContain('BERTH_SECRET_KEY lacks 1 of the 2 keys');
});
