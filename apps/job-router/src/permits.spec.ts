import { ManualClock } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { Permits } from './permits.js';

describe('permits', () => {
  test('let so many run at one time, and the others in order', async () => {
    const clock = new ManualClock();
    const permits = new Permits(2);
    const order: string[] = [];
    const runs = ['a', 'b', 'c', 'd'].map((name) =>
      permits.run(async () => {
        order.push(`${name} begins`);
        await clock.sleep(10);
        order.push(`${name} ends`);
        return name;
      }),
    );
    await clock.advance(0);
    expect(order).toEqual(['a begins', 'b begins']);
    await clock.advance(20);
    expect(await Promise.all(runs)).toEqual(['a', 'b', 'c', 'd']);
    expect(order.filter((entry) => entry.endsWith('begins'))).toEqual(
      ['a', 'b', 'c', 'd'].map((name) => `${name} begins`),
    );
  });

  test('come back from an action that fails', async () => {
    const permits = new Permits(1);
    await expect(permits.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await permits.run(() => Promise.resolve(1))).toBe(1);
  });
});
