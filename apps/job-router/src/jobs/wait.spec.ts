import { describe, expect, test } from '@jest/globals';
import { parseWaitMs } from './wait.js';

describe('the wait of a caller', () => {
  test.each([
    [undefined, 90_000],
    ['', 90_000],
    ['1000', 1_000],
    ['300000', 300_000],
    ['90000', 90_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseWaitMs(text, 90_000)).toBe(ms);
  });

  test.each(['999', '300001', '0', '-5000', '1e4', '5000.0', '5s', ' 5000', '99999999999', ['5000', '6000'], {}])(
    '%j is refused naming the bounds',
    (text) => {
      expect(() => parseWaitMs(text, 90_000)).toThrow(/integer from 1000 to 300000/);
    },
  );
});
