import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ApiKeySnapshot } from '@berth/contracts';
import { PlatformError, type AccountId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { Strangers } from '../callers/strangers.js';
import { makeApiKey } from './api-key.js';
import { KeyLookups, type ShownKey } from './key-lookups.js';

const ASKS = 8;
const LOOKUPS = 4;
const ALL_LOOKUPS = 6;
const PROVEN = 3;

let clock: ManualClock;
let memory: Map<string, ApiKeySnapshot>;
let kept: Map<string, ApiKeySnapshot>;
let reads: string[];
let lookups: KeyLookups;
let isAway: boolean;

beforeEach(() => {
  clock = new ManualClock();
  isAway = false;
  [memory, kept, reads] = [new Map(), new Map(), []];
  const directory = {
    known: (prefix: string) => memory.get(prefix),
    find: async (prefix: string) => {
      reads.push(prefix);
      if (isAway) throw new PlatformError('service-unavailable', 'nobody can tell');
      return kept.get(prefix) ?? null;
    },
  };
  const perSecond = { tokensPerSecond: 1 };
  const strangers = new Strangers(clock, {
    asks: { tokensMax: ASKS, ...perSecond },
    publicAsks: { tokensMax: ASKS, ...perSecond },
    lookups: { tokensMax: LOOKUPS, ...perSecond },
    allLookups: { tokensMax: ALL_LOOKUPS, ...perSecond },
  });
  lookups = new KeyLookups({ directory, strangers, clock, metrics: new MetricRegistry(), provenMax: PROVEN });
});

const issued = (places: readonly Map<string, ApiKeySnapshot>[], expiresAtMs: number | null = null): string => {
  const { hash, key, prefix } = makeApiKey(systemRandom);
  const accountId = 'a1' as AccountId;
  for (const place of places) {
    place.set(prefix, { id: prefix, accountId, prefix, hash, scopes: [], endpointIds: null, expiresAtMs });
  }
  return key;
};

const shown = (key: string, network = 'there'): ShownKey => ({ key, prefix: key.split('_')[1] ?? '', network });
const unknown = (): string => makeApiKey(systemRandom).key;

const flood = async (network: string): Promise<void> => {
  for (let n = 0; n < ASKS; n += 1) await lookups.find(shown(unknown(), network)).catch(() => null);
};

describe('keys that do not exist', () => {
  test('are looked up only so often for one network, and then nobody is told that they do not exist', async () => {
    for (let n = 0; n < LOOKUPS; n += 1) expect(await lookups.find(shown(unknown()))).toBeNull();
    await expect(lookups.find(shown(unknown()))).rejects.toMatchObject({ code: 'rate-limited', retryAfterSeconds: 1 });
    expect(reads).toHaveLength(LOOKUPS);
    await clock.advance(1_000);
    expect(await lookups.find(shown(unknown()))).toBeNull();
  });

  test('are looked up only so often for all networks together', async () => {
    for (let n = 0; n < 20; n += 1) await lookups.find(shown(unknown(), `network ${n}`)).catch(() => null);
    expect(reads).toHaveLength(ALL_LOOKUPS);
  });

  test('that are shown again within a second are not looked up again', async () => {
    const key = unknown();
    await lookups.find(shown(key));
    expect(await lookups.find(shown(key))).toBeNull();
    expect(reads).toHaveLength(1);
    await clock.advance(1_000);
    await lookups.find(shown(key));
    expect(reads).toHaveLength(2);
  });
});

describe('a good key', () => {
  test('that is in memory works through a flood from its own network, and costs no read', async () => {
    const key = issued([memory]);
    await flood('there');
    reads.length = 0;
    expect(await lookups.find(shown(key))).toMatchObject({ hash: expect.any(String) });
    expect(reads).toEqual([]);
  });

  test('that has worked before works through a flood from its own network, where nothing is in memory', async () => {
    const key = issued([kept]);
    await lookups.find(shown(key));
    await flood('there');
    for (let n = 0; n < 2 * ASKS; n += 1) expect(await lookups.find(shown(key))).not.toBeNull();
  });

  test('that was made a moment ago works at once, and costs its network nothing', async () => {
    for (let n = 0; n < 2 * LOOKUPS; n += 1) expect(await lookups.find(shown(issued([kept])))).not.toBeNull();
  });

  test('that works all the time is remembered however many others worked since it first did', async () => {
    const [constant, others] = [issued([kept]), Array.from({ length: 2 * PROVEN }, () => issued([kept]))];
    await lookups.find(shown(constant));
    for (const [at, other] of others.entries()) {
      await lookups.find(shown(other, `network ${at}`));
      await lookups.find(shown(constant));
    }
    await flood('there');
    expect(await lookups.find(shown(constant))).not.toBeNull();
  });

  test('is not limited after an outage in which nobody could tell that it is one', async () => {
    const key = issued([kept]);
    isAway = true;
    for (let n = 0; n < 2 * ASKS; n += 1) {
      await expect(lookups.find(shown(key))).rejects.toMatchObject({ code: 'service-unavailable' });
    }
    isAway = false;
    expect(await lookups.find(shown(key))).not.toBeNull();
  });

  test('that was revoked is unknown at once, and counts as such', async () => {
    const key = issued([kept]);
    await lookups.find(shown(key));
    kept.clear();
    reads.length = 0;
    for (let n = 0; n < 20; n += 1) await lookups.find(shown(key)).catch(() => null);
    expect(reads.length).toBeLessThanOrEqual(2);
  });
});

test('guesses at the secret of a known key, and keys whose time is over, are limited like unknown ones', async () => {
  const key = issued([memory]);
  const guess = `${key.slice(0, -40)}${'0'.repeat(40)}`;
  for (let n = 0; n < ASKS; n += 1) expect(await lookups.find(shown(guess))).toBeNull();
  await expect(lookups.find(shown(guess))).rejects.toMatchObject({ code: 'rate-limited' });
  const over = issued([memory], 1);
  for (let n = 0; n < ASKS; n += 1) await lookups.find(shown(over, 'elsewhere'));
  await expect(lookups.find(shown(over, 'elsewhere'))).rejects.toMatchObject({ code: 'rate-limited' });
  const kept5 = issued([kept], 1);
  for (let n = 0; n < 20; n += 1) await lookups.find(shown(kept5, 'third')).catch(() => null);
  expect(reads).toHaveLength(LOOKUPS);
});
