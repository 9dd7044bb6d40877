import { ConfigReader } from '@berth/lifecycle';
import { readSecretBox, type SecretBox } from '@berth/secrets';
import { ChangeSeal } from '../src/persistence/change-seal.js';
import { EnvSeal } from '../src/persistence/env-seal.js';
import type { EndpointSeals } from '../src/endpoints/endpoints.store.js';

const KEY_BYTES = 32;

/** `BERTH_SECRET_KEY` with a key of its own for each `fill`. */
export const secretKeys = (...fills: readonly number[]): string =>
  fills.map((fill) => Buffer.alloc(KEY_BYTES, fill).toString('base64')).join(',');

/** A box with those keys. */
export const secretBox = (fill = 1, ...others: readonly number[]): SecretBox =>
  readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: secretKeys(fill, ...others) }));

/** What seals environment variables, with the same key. */
export const envSeal = (fill = 1): EnvSeal => new EnvSeal(secretBox(fill));

/** What seals the changes that are told of them. */
export const changeSeal = (fill = 1): ChangeSeal => new ChangeSeal(secretBox(fill));

export const endpointSeals = (fill = 1): EndpointSeals => ({ envs: envSeal(fill), changes: changeSeal(fill) });
