import { ConfigReader } from '@berth/lifecycle';
import { readSecretBox, type SecretBox } from '@berth/secrets';
import { EnvSeal } from '../src/persistence/env-seal.service.js';

const KEY_BYTES = 32;

/** A box with a key of its own for each `fill`. */
export const secretBox = (fill = 1): SecretBox =>
  readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(KEY_BYTES, fill).toString('base64') }));

/** What seals environment variables, with the same key. */
export const envSeal = (fill = 1): EnvSeal => new EnvSeal(secretBox(fill));
