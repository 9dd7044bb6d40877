import { describe, expect, test } from '@jest/globals';
import { AlignedBucket } from './aligned-bucket.js';

/** One key: its row, and its place in a bucket that refuses a write which names another version. */
class OneKey {
  row: number | null = null;
  value: number | null = null;
  revision = 0;
  /** Runs when the row has been read and before the write is sent: there a slow process stands still. */
  beforeWrite: () => Promise<void> = () => Promise.resolve();
  readonly bucket = new AlignedBucket<number>({
    truth: {
      bucket: 'numbers',
      all: async () => new Map(this.row === null ? [] : [['a', this.row]]),
      one: async () => {
        const { beforeWrite, row } = this;
        this.beforeWrite = () => Promise.resolve();
        await beforeWrite();
        return row;
      },
    },
    writer: {
      latest: async () => ({ value: this.value, isAbsent: this.value === null, revision: this.revision }),
      put: async (_, value, expected) => this.#write(value, expected),
      delete: async (_, expected) => this.#write(null, expected) !== null,
    },
  });

  #write(value: number | null, expected: number | undefined): number | null {
    if (expected !== undefined && expected !== this.revision) return null;
    this.value = value;
    this.revision += 1;
    return this.revision;
  }
}

describe('a key that two processes publish at one time', () => {
  test('ends with the newer value, also where the older one is sent last', async () => {
    const one = new OneKey();
    one.row = 1;
    one.beforeWrite = async () => {
      one.row = 2;
      expect(await one.bucket.align('a')).toBe('written');
    };
    expect(await one.bucket.align('a')).toBe('same');
    expect(one.value).toBe(2);
  });

  test('stays removed where a value is sent last that was read before its row was deleted', async () => {
    const one = new OneKey();
    one.row = 1;
    await one.bucket.align('a');
    one.row = 3;
    one.beforeWrite = async () => {
      one.row = null;
      expect(await one.bucket.align('a')).toBe('removed');
    };
    await one.bucket.align('a');
    expect(one.value).toBeNull();
  });

  test('is written once where both have the same to say', async () => {
    const one = new OneKey();
    one.row = 1;
    one.beforeWrite = async () => {
      await one.bucket.align('a');
    };
    expect(await one.bucket.align('a')).toBe('same');
    expect(one.revision).toBe(1);
  });
});

test('a key that others never stop publishing is given up after a bounded number of tries', async () => {
  let tries = 0;
  const bucket = new AlignedBucket<number>({
    truth: { bucket: 'numbers', all: async () => new Map(), one: async () => 1 },
    writer: {
      latest: async () => ({ value: null, isAbsent: true, revision: 0 }),
      put: async () => {
        tries += 1;
        return null;
      },
      delete: async () => false,
    },
  });
  await expect(bucket.align('a')).rejects.toMatchObject({ code: 'service-unavailable' });
  expect(tries).toBe(32);
});
