import { describe, expect, test } from '@jest/globals';
import { LastAskers } from './last-askers.js';

const asker = (takeId: string, secret = 'mine') => ({ takeId, secret });

describe('who asked last for a take', () => {
  test('is whoever was answered last', () => {
    const askers = new LastAskers();
    askers.note(asker('t'));
    expect(askers.isLast(asker('t'))).toBe(true);
    expect(askers.isLast(asker('t', 'another'))).toBe(false);
    expect(askers.isLast(asker('u'))).toBe(false);
    askers.note(asker('t', 'another'));
    expect([askers.isLast(asker('t')), askers.isLast(asker('t', 'another'))]).toEqual([false, true]);
  });

  test('is nobody while it is asked again', () => {
    const askers = new LastAskers();
    askers.note(asker('t'));
    askers.forget(asker('t'));
    expect(askers.isLast(asker('t'))).toBe(false);
  });

  test('is known of the latest 4,096, and no older word comes back', () => {
    const askers = new LastAskers();
    askers.note(asker('old', 'first'));
    const noteMany = (from: number): void => {
      for (let at = 0; at < 4_096; at += 1) askers.note(asker(`${from}-${at}`));
    };
    noteMany(1);
    expect(askers.isLast(asker('old', 'first'))).toBe(true);
    askers.note(asker('old', 'second'));
    expect(askers.isLast(asker('old', 'first'))).toBe(false);
    askers.forget(asker('old'));
    expect(askers.isLast(asker('old', 'first'))).toBe(false);
    noteMany(2);
    noteMany(3);
    expect(askers.isLast(asker('1-0'))).toBe(false);
    expect(askers.isLast(asker('3-0'))).toBe(true);
  });
});
