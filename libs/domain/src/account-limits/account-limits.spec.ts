import { describe, expect, test } from '@jest/globals';
import { isSecretName } from '../changes/index.js';
import { ENDPOINT_BOUNDS_DEFAULT, endpointBounds } from '../endpoint-jobs/index.js';
import { CHUNK_MAX_BYTES } from '../job/index.js';
import { ACCOUNT_LIMITS, ACCOUNT_LIMIT_NAMES, type AccountLimit, type AccountLimitName } from './account-limits.js';
import { changeLimits, type LimitChange } from './change-limits.js';
import { ACCOUNT_LIMITS_DEFAULT, effectiveLimits } from './effective-limits.js';
import { limitReached } from './limit-reached.js';

const GIB = 1024 ** 3;

test('an account that nobody has given other limits has these', () => {
  expect(ACCOUNT_LIMITS_DEFAULT).toEqual({
    endpoints: 1_000,
    workers: 1_000,
    gpus: 1_000,
    volumeGb: 100_000,
    jobsPerEndpoint: 100_000,
    payloadBytesPerEndpoint: 4 * GIB,
    idempotencyKeysPerEndpoint: 100_000,
    pendingDeliveriesPerEndpoint: 10_000,
    chunkBytesPerAttempt: GIB / 16,
    chunkBytes: GIB,
    heldCallsPerRouter: 5_000,
  });
});

test.each(Object.entries<AccountLimit>(ACCOUNT_LIMITS))('%s', (name, { maximum, minimum, reached, ...limit }) => {
  for (const value of [minimum, limit.default, maximum]) expect(Number.isSafeInteger(value)).toBe(true);
  expect(minimum).toBeGreaterThanOrEqual(1);
  expect(limit.default).toBeGreaterThanOrEqual(minimum);
  expect(maximum).toBeGreaterThanOrEqual(limit.default);
  expect(limit.meaning).toMatch(/^[A-Z].*\.$/);
  expect(reached(4_711)).toMatch(/^\w.*\b4711\b.*\w$/);
  // Else the audit trail would not tell what it was.
  expect(isSecretName(name)).toBe(false);
});

test('what is streamed in chunks has room for one', () => {
  for (const name of ['chunkBytes', 'chunkBytesPerAttempt'] as const) {
    expect(ACCOUNT_LIMITS[name].minimum).toBeGreaterThanOrEqual(CHUNK_MAX_BYTES);
  }
});

describe('overrides', () => {
  const every = (value: number | null): LimitChange =>
    Object.fromEntries(ACCOUNT_LIMIT_NAMES.map((name) => [name, value]));

  test('count, and what has none is at its default', () => {
    expect(effectiveLimits({ endpoints: 7 })).toEqual({ ...ACCOUNT_LIMITS_DEFAULT, endpoints: 7 });
    expect(effectiveLimits(changeLimits({}, every(5)))).toEqual(every(5));
  });

  test.each<[string, LimitChange, Partial<Record<AccountLimitName, number>>]>([
    ['nothing', {}, { endpoints: 7, chunkBytes: 9 }],
    ['what is undefined', { endpoints: undefined }, { endpoints: 7, chunkBytes: 9 }],
    ['one', { endpoints: 8 }, { endpoints: 8, chunkBytes: 9 }],
    ['one more', { heldCallsPerRouter: 1 }, { endpoints: 7, chunkBytes: 9, heldCallsPerRouter: 1 }],
    ['one back to its default', { endpoints: null }, { chunkBytes: 9 }],
    ['one to what its default is', { endpoints: 1_000 }, { endpoints: 1_000, chunkBytes: 9 }],
    ['one that has none back to its default', { jobsPerEndpoint: null }, { endpoints: 7, chunkBytes: 9 }],
    ['all back to their defaults', every(null), {}],
  ])('change by %s', (_what, change, changed) => {
    const before = Object.freeze({ endpoints: 7, chunkBytes: 9 });
    expect(changeLimits(before, change)).toEqual(changed);
  });
});

test('who would exceed one hears the bound, and the name under which it is changed', () => {
  expect(limitReached('endpoints', 1_000, 60)).toMatchObject({
    code: 'limit-reached',
    message: 'The account may have 1000 endpoints (account limit endpoints).',
    retryAfterSeconds: 60,
  });
});

describe('the bounds of an endpoint', () => {
  test('are those of its account', () => {
    const overrides = {
      jobsPerEndpoint: 1,
      payloadBytesPerEndpoint: 2,
      idempotencyKeysPerEndpoint: 3,
      pendingDeliveriesPerEndpoint: 4,
    };
    const bounds = { livingJobs: 1, livingBytes: 2, keys: 3, pendingDeliveries: 4 };
    expect(endpointBounds(effectiveLimits(overrides))).toEqual(bounds);
  });

  test('are by default those of an account that has the defaults', () => {
    expect(ENDPOINT_BOUNDS_DEFAULT).toEqual(endpointBounds(ACCOUNT_LIMITS_DEFAULT));
  });
});
