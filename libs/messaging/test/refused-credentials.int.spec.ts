import { systemRandom, type Clock } from '@berth/lifecycle';
import { ManualClock } from '@berth/testing';
import { SHARED_USER, useNatsServer } from '@berth/testing/servers';
import { expect, test } from '@jest/globals';
import { connectNats } from '../src/connection.js';

const nats = useNatsServer({ access: 'password' });
const TRIES = 12;

/** The waits between the tries to connect, of which none really passes. */
async function waitsAt(url: string): Promise<readonly number[]> {
  const waits: number[] = [];
  const stop = new AbortController();
  const sleep: Clock['sleep'] = (ms) => {
    waits.push(ms);
    if (waits.length === TRIES) stop.abort();
    return Promise.resolve();
  };
  const clock: Clock = Object.assign(Object.create(new ManualClock()) as Clock, { sleep, monotonicMs: () => 0 });
  const credentials = { kind: 'password', ...SHARED_USER, pass: 'guessed' } as const;
  const options = { url, name: 'removed', credentials, clock, random: systemRandom, signal: stop.signal };
  await expect(connectNats({ ...options, connectWithinMs: 1 })).rejects.toThrow();
  return waits;
}

test('an agent that was removed knocks less and less often, and at no fixed pace', async () => {
  const waits = await waitsAt(nats.server.url);
  for (const [tries, waitMs] of waits.entries()) {
    expect(waitMs).toBeGreaterThanOrEqual(Math.min(30_000, 1_000 * 2 ** tries) / 2);
    expect(waitMs).toBeLessThanOrEqual(30_000);
  }
  expect(new Set(waits).size).toBe(TRIES);
});

test('a broker that is away is looked for as often as before', async () => {
  const waits = await waitsAt('nats://127.0.0.1:1');
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
});
