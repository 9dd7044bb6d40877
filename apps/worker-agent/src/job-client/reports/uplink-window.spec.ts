import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { UplinkWindow, nextWindowBytes } from './uplink-window.js';

const KIB = 1024;

let clock: ManualClock;
let window: UplinkWindow;
let begun: string[];
let ends: Map<string, () => void>;

beforeEach(() => {
  clock = new ManualClock();
  window = new UplinkWindow(clock);
  begun = [];
  ends = new Map();
});

function send(name: string, kib: number, more: { readonly owner?: string; readonly isUrgent?: boolean } = {}): void {
  const load = { bytes: kib * KIB, owner: 'w1', isUrgent: false, ...more };
  void window.run(load, async () => {
    begun.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
  });
}

/** Slow enough that the window does not grow. */
async function acknowledge(name: string): Promise<void> {
  await clock.advance(500);
  ends.get(name)?.();
  await clock.advance(0);
}

describe('the window over payload', () => {
  test('lets no more bytes be under way than it is wide', async () => {
    for (const name of ['a', 'b', 'c']) send(name, 100);
    await clock.advance(0);
    expect(begun).toEqual(['a', 'b']);
    await acknowledge('a');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  test('lets a load that is larger go alone', async () => {
    send('large', 1_000);
    send('small', 1);
    await clock.advance(0);
    expect(begun).toEqual(['large']);
    await acknowledge('large');
    expect(begun).toEqual(['large', 'small']);
  });

  test('gives workers turns, however much one of them has waiting, and lets ends of jobs go first', async () => {
    for (let count = 0; count < 4; count += 1) send(`greedy ${count}`, 200);
    send('modest', 200, { owner: 'w2' });
    send('end', 200, { isUrgent: true });
    for (const name of ['greedy 0', 'end', 'greedy 1', 'modest', 'greedy 2']) await acknowledge(name);
    expect(begun).toEqual(['greedy 0', 'end', 'greedy 1', 'modest', 'greedy 2', 'greedy 3']);
  });

  test('lets no worker whose jobs end all the time keep the chunks of others waiting', async () => {
    send('first', 200);
    for (let count = 0; count < 4; count += 1) send(`end ${count}`, 200, { isUrgent: true });
    send('modest', 200, { owner: 'w2' });
    for (const name of ['first', 'end 0', 'modest']) await acknowledge(name);
    expect(begun).toEqual(['first', 'end 0', 'modest', 'end 1']);
  });

  test('is free again after a load that failed', async () => {
    const failed = window.run({ bytes: 500 * KIB, owner: 'w1', isUrgent: false }, () =>
      Promise.reject(new Error('no')),
    );
    await expect(failed).rejects.toThrow('no');
    send('next', 500);
    await clock.advance(0);
    expect(begun).toEqual(['next']);
  });
});

test.each([
  [256, 100, 512],
  [4_096, 100, 4_096],
  [1_024, 500, 1_024],
  [1_024, 2_000, 512],
  [256, 2_000, 256],
])('a window of %d KiB whose load took %d ms becomes %d KiB', (...[kib, tookMs, nextKib]) => {
  expect(nextWindowBytes(kib * KIB, tookMs)).toBe(nextKib * KIB);
});
