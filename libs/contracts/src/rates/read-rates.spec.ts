import { describe, expect, test } from '@jest/globals';
import { readRates } from './read-rates.js';

const news = { endpointId: 'e1', operation: 'run', admitted: 3, inFlight: 1 };
const textOf = (...entries: readonly unknown[]): string => JSON.stringify({ routerId: 'r1', news: entries });

describe('what another router tells', () => {
  test('is read as it was told', () => {
    expect(readRates(textOf(news))).toEqual({ kind: 'value', value: { routerId: 'r1', news: [news] } });
    expect(readRates(textOf())).toEqual({ kind: 'value', value: { routerId: 'r1', news: [] } });
  });

  test('is read without what only a later version knows', () => {
    const later = { ...news, operation: 'teleport' };
    expect(readRates(textOf(later, news))).toEqual({ kind: 'value', value: { routerId: 'r1', news: [news] } });
  });

  test.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['no router', '{"news":[]}'],
    ['no list', '{"routerId":"r1","news":{}}'],
    ['an entry that is none', textOf(null)],
    ['a count below zero', textOf({ ...news, admitted: -1 })],
    ['half a request', textOf({ ...news, inFlight: 0.5 })],
    ['a count beyond all numbers', textOf({ ...news, admitted: 1e300 })],
    ['no operation', textOf({ ...news, operation: undefined })],
  ])('is left alone where it is %s', (_what, text) => {
    expect(readRates(text)).toMatchObject({ kind: 'unreadable' });
  });
});
