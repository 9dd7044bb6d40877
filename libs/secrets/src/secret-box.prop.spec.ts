import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SecretBox } from './secret-box.js';
import { SecretError } from './secret-error.js';
import { parseSecretKeys, type SecretKey } from './secret-key.js';

const [KEY] = parseSecretKeys(Buffer.alloc(32, 7).toString('base64')) as readonly [SecretKey];
const [NEXT] = parseSecretKeys(Buffer.alloc(32, 8).toString('base64')) as readonly [SecretKey];
const box = new SecretBox([KEY]);
const rotated = new SecretBox([NEXT, KEY]);
const text = fc.string({ unit: 'binary' });

const isRefused = (sealed: string, context: string): boolean => {
  try {
    box.open(sealed, context);
    return false;
  } catch (error) {
    return error instanceof SecretError;
  }
};

test('what was sealed is what is opened', () => {
  fc.assert(
    fc.property(text, text, (secret, context) => {
      expect(box.open(box.seal(secret, context), context)).toBe(secret);
    }),
  );
});

test('another context opens nothing', () => {
  fc.assert(
    fc.property(text, text, text, (secret, context, other) => {
      fc.pre(context !== other);
      expect(isRefused(box.seal(secret, context), other)).toBe(true);
    }),
  );
});

test('a single flipped bit anywhere in the text opens nothing', () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.nat({ max: 7 }), (secret, position, bit) => {
      const bytes = Buffer.from(box.seal(secret, 'a'));
      const at = position % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      expect(isRefused(bytes.toString('latin1'), 'a')).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('what is sealed anew needs the new key only, in the same place only, and is sealed anew once', () => {
  fc.assert(
    fc.property(text, text, text, (secret, context, other) => {
      const resealed = rotated.reseal(box.seal(secret, context), context);
      expect(resealed.startsWith(rotated.prefix)).toBe(true);
      expect(new SecretBox([NEXT]).open(resealed, context)).toBe(secret);
      expect(rotated.reseal(resealed, context)).toBe(resealed);
      fc.pre(context !== other);
      expect(() => rotated.reseal(box.seal(secret, context), other)).toThrow(SecretError);
    }),
  );
});
