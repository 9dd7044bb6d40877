import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { SecretKey } from './secret-key.js';

const DIGEST = 'sha256';
const KEY_BYTES = 32;
/** Says what the derived key is for, so that no key does two things. */
const PURPOSE = 'berth fingerprint v1';

export const fingerprintKeyOf = ({ key }: SecretKey): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync(DIGEST, key, '', PURPOSE, KEY_BYTES)));

/** 43 characters of base64url. */
export const fingerprintOf = (key: KeyObject, text: string, context: string): string =>
  createHmac(DIGEST, key)
    .update(JSON.stringify([context, text]))
    .digest('base64url');
