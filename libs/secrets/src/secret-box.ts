import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import { fingerprintKeyOf, fingerprintOf } from './fingerprint.js';
import { SecretError } from './secret-error.js';
import type { SecretKey } from './secret-key.js';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SHAPE = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/**
 * Secrets as they may lie in a database: AES-256-GCM as `v1.<key id>.<base64url of nonce, tag and cipher>`.
 *
 * The `context` says whose the secret is (`registry:<account id>:<id>`). It is not in the text, but a secret opens only
 * with the one that it was sealed with: a row that is copied to another tenant's gives nothing away.
 */
export class SecretBox {
  readonly #keys: readonly SecretKey[];
  readonly #fingerprintKeys: readonly KeyObject[];

  /** @param keys the first seals, all open */
  constructor(keys: readonly [SecretKey, ...SecretKey[]]) {
    this.#keys = keys;
    this.#fingerprintKeys = keys.map(fingerprintKeyOf);
  }

  /**
   * Values that tell two texts of one context apart and let nobody guess them who has not the keys. The first is to be
   * kept; one that was kept before a key was rotated is one of the others.
   */
  fingerprintsOf(text: string, context: string): readonly string[] {
    return this.#fingerprintKeys.map((key) => fingerprintOf(key, text, context));
  }

  /** What every text begins with that the first key has sealed. */
  get prefix(): string {
    return prefixOf(this.#first);
  }

  /** By what sealed texts name the keys that open here. */
  get keyIds(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /** Whether there are keys that open and seal no more, or not yet. */
  get hasOtherKeys(): boolean {
    return this.#keys.length > 1;
  }

  seal(text: string, context: string): string {
    const { key } = this.#first;
    // Not the injected Random: a test that repeated a nonce under one key would be a hole, not a repeatable test.
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return `${this.prefix}${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
  }

  /**
   * The same secret, sealed with the first key; what that has sealed is returned as it is.
   *
   * @throws SecretError as `open`
   */
  reseal(sealed: string, context: string): string {
    return sealed.startsWith(this.prefix) ? sealed : this.seal(this.open(sealed, context), context);
  }

  /** @throws SecretError `unreadable`, `unknown-key`, `not-genuine` */
  open(sealed: string, context: string): string {
    const { bytes, keyId } = parseSealed(sealed);
    const known = this.#keys.find(({ id }) => id === keyId);
    if (known === undefined)
      throw new SecretError('unknown-key', `There is no key ${keyId}, which sealed this secret.`);
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, known.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (error) {
      throw new SecretError('not-genuine', 'This secret was changed, or sealed for something else.', { cause: error });
    }
  }

  get #first(): SecretKey {
    return (this.#keys as readonly [SecretKey])[0];
  }
}

const prefixOf = ({ id }: SecretKey): string => `v1.${id}.`;

function parseSealed(sealed: string): { readonly keyId: string; readonly bytes: Buffer } {
  const [, keyId = '', encoded = ''] = SHAPE.exec(sealed) ?? [];
  const bytes = Buffer.from(encoded, 'base64url');
  // The last character of an encoding may carry bits that decode to nothing; only the one way to write it counts.
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== encoded) {
    throw new SecretError('unreadable', 'This is no sealed secret.');
  }
  return { keyId, bytes };
}
