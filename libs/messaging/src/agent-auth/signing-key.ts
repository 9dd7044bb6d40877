import { createPrivateKey, sign } from 'node:crypto';
import { fromSeed, type KeyPair } from '@nats-io/nkeys';

/** Of an Ed25519 key, before its 32 bytes. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
/** Of a seed as NATS writes it: two bytes that say what it is, the seed, and two to check it. */
const SEED_AT = 2;
const SEED_BYTES = 32;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BASE32_BITS = 5;
const BYTE_BITS = 8;

/**
 * The key pair of a seed, which signs by the platform's own means: the client's takes ten milliseconds of the thread for
 * each signature, so that a stranger who knocks a hundred times a second would keep the whole process busy.
 *
 * @throws when it is no seed
 */
export function signingKey(seed: string): KeyPair {
  const plain = fromSeed(new TextEncoder().encode(seed));
  const publicKey = plain.getPublicKey();
  const bytes = base32Bytes(seed).subarray(SEED_AT, SEED_AT + SEED_BYTES);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, bytes]), format: 'der', type: 'pkcs8' });
  return Object.assign(Object.create(plain) as KeyPair, {
    getPublicKey: () => publicKey,
    sign: (input: Uint8Array) => new Uint8Array(sign(null, input, key)),
  });
}

function base32Bytes(text: string): Buffer {
  const bytes: number[] = [];
  let [value, bits] = [0, 0];
  for (const letter of text) {
    value = (value << BASE32_BITS) | BASE32.indexOf(letter);
    bits += BASE32_BITS;
    if (bits < BYTE_BITS) continue;
    bits -= BYTE_BITS;
    bytes.push((value >>> bits) & 0xff);
    value &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}
