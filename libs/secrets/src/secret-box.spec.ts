import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { SecretBox } from './secret-box.js';
import { SecretError, type SecretErrorReason } from './secret-error.js';
import { parseSecretKeys, type SecretKey } from './secret-key.js';

const keyOf = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
const boxOf = (...fills: number[]): SecretBox =>
  new SecretBox(parseSecretKeys(fills.map(keyOf).join(',')) as [SecretKey]);

const CONTEXT = 'registry:a1:r1';

const refusal = (open: () => string): SecretErrorReason | 'opened' => {
  try {
    open();
    return 'opened';
  } catch (error) {
    if (error instanceof SecretError) return error.reason;
    throw error;
  }
};

describe('a sealed secret', () => {
  test('names its version and key, and never looks the same twice', () => {
    const [one, other] = [boxOf(1).seal('hunter2', CONTEXT), boxOf(1).seal('hunter2', CONTEXT)];
    expect(one).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/);
    expect(one).not.toBe(other);
    expect(one).not.toContain('hunter2');
  });

  test('opens after the key was rotated, as long as the old one is still there', () => {
    const sealed = boxOf(1).seal('hunter2', CONTEXT);
    expect(boxOf(2, 1).open(sealed, CONTEXT)).toBe('hunter2');
    expect(refusal(() => boxOf(2).open(sealed, CONTEXT))).toBe('unknown-key');
  });

  test('is sealed anew by whoever has both keys only', () => {
    const sealed = boxOf(1).seal('hunter2', CONTEXT);
    expect(boxOf(2).open(boxOf(2, 1).reseal(sealed, CONTEXT), CONTEXT)).toBe('hunter2');
    expect(refusal(() => boxOf(2).reseal(sealed, CONTEXT))).toBe('unknown-key');
    expect([boxOf(2, 1).hasOtherKeys, boxOf(2).hasOtherKeys]).toEqual([true, false]);
  });

  test('names one of the keys that open it', () => {
    const [, named] = boxOf(2, 1).seal('hunter2', CONTEXT).split('.');
    expect(boxOf(2, 1).keyIds).toEqual([named, ...boxOf(1).keyIds]);
  });

  test('is sealed with the first key', () => {
    expect(boxOf(2).open(boxOf(2, 1).seal('hunter2', CONTEXT), CONTEXT)).toBe('hunter2');
  });

  test.each(['', 'v1', 'v1.00000000.', 'v2.00000000.AAAA', 'v1.00000000.AAAA', 'hunter2'])(
    'is something else than %j',
    (text) => {
      expect(refusal(() => boxOf(1).open(text, CONTEXT))).toBe('unreadable');
    },
  );

  test('that cannot be opened is not told in the error', () => {
    const sealed = boxOf(1).seal('hunter2', CONTEXT);
    expect(() => boxOf(1).open(sealed, 'registry:a2:r1')).toThrow(/^This secret was changed/);
  });
});

describe('a fingerprint', () => {
  const fingerprint = (text: string, context = CONTEXT, box = boxOf(1)): string =>
    box.fingerprintsOf(text, context)[0] as string;

  test('is the same each time, and short, however long the text is', () => {
    expect(fingerprint('hunter2')).toBe(fingerprint('hunter2'));
    expect(fingerprint('x'.repeat(100_000))).toMatch(/^[\w-]{43}$/);
  });

  test('is another one for another text, another context and another key', () => {
    const others = [fingerprint('hunter3'), fingerprint('hunter2', 'other'), fingerprint('hunter2', CONTEXT, boxOf(2))];
    expect(new Set([fingerprint('hunter2'), ...others]).size).toBe(4);
  });

  test('has no seam between text and context', () => {
    expect(fingerprint('bc', 'a')).not.toBe(fingerprint('c', 'ab'));
    expect(fingerprint('b","c', 'a')).not.toBe(fingerprint('c', 'a","b'));
  });

  test('that was kept is found after the key was rotated, as long as the old one is still there', () => {
    const kept = fingerprint('hunter2');
    expect(boxOf(2, 1).fingerprintsOf('hunter2', CONTEXT)).toEqual([expect.not.stringContaining(kept), kept]);
    expect(boxOf(2).fingerprintsOf('hunter2', CONTEXT)).not.toContain(kept);
  });

  test('is nothing that the sealing key itself would make of it', () => {
    const plain = createHmac('sha256', Buffer.alloc(32, 1)).update(JSON.stringify([CONTEXT, 'hunter2']));
    expect(fingerprint('hunter2')).not.toBe(plain.digest('base64url'));
  });
});

test('a box shows its keys to nobody', () => {
  const box = boxOf(1);
  expect(inspect(box, { depth: null, showHidden: true })).not.toContain('01 01');
  expect(JSON.stringify(box)).toBe('{}');
});

describe('keys', () => {
  test('may have white space around them', () => {
    expect(parseSecretKeys(` ${keyOf(1)} ,\n${keyOf(2)}\n`)).toHaveLength(2);
  });

  test.each([
    ['nothing', ''],
    ['too short', Buffer.alloc(31, 1).toString('base64')],
    ['too long', Buffer.alloc(33, 1).toString('base64')],
    ['no base64', `${keyOf(1).slice(0, -2)}!=`],
    ['an empty one beside a good one', `${keyOf(1)},`],
    ['one key twice', `${keyOf(1)},${keyOf(1)}`],
  ])('are refused: %s', (_, text) => {
    expect(parseSecretKeys(text)).toBeNull();
  });
});
