import { createAccount, fromPublic } from '@nats-io/nkeys';
import { expect, test } from '@jest/globals';
import { signingKey } from './signing-key.js';

test('what is signed quickly is what the client would have signed', () => {
  for (let n = 0; n < 3; n += 1) {
    const plain = createAccount();
    const quick = signingKey(new TextDecoder().decode(plain.getSeed()));
    const text = new TextEncoder().encode(`text ${n}`);
    expect(quick.getPublicKey()).toBe(plain.getPublicKey());
    expect([...quick.sign(text)]).toEqual([...plain.sign(text)]);
    expect(fromPublic(plain.getPublicKey()).verify(text, quick.sign(text))).toBe(true);
  }
});

test('what is no seed makes no key', () => {
  expect(() => signingKey('SAAAA')).toThrow();
});
