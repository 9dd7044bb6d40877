import { describe, expect, test } from '@jest/globals';
import { Semaphore } from './semaphore.js';

describe('permits', () => {
  test('let so many run at one time, and the others in order', async () => {
    const permits = new Semaphore(2);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const names = ['a', 'b', 'c', 'd'];
    const runs = names.map((name) =>
      permits.run(async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      }),
    );
    expect(begun).toEqual(['a', 'b']);
    for (const [order, name] of names.entries()) {
      ends.get(name)?.();
      expect(await runs[order]).toBe(name);
    }
    expect(begun).toEqual(names);
  });

  test('come back from an action that fails', async () => {
    const permits = new Semaphore(1);
    await expect(permits.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await permits.run(() => Promise.resolve(1))).toBe(1);
  });
});
