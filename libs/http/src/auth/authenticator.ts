import type { ApiKeySnapshot } from '@berth/contracts';
import { PlatformError, isScope, type KeyGrant } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { ApiKeyDirectory } from './api-key-directory.port.js';
import { matchesHash, prefixOfApiKey } from './api-key.js';

/** Who asks, as far as the key tells. */
export interface Caller extends KeyGrant {
  readonly keyId: string;
}

/** `bearer-or-bare`: job paths also take the key without a scheme (wire contract 2.2). */
export type CredentialForm = 'bearer' | 'bearer-or-bare';

const BEARER = /^bearer +(\S+) *$/i;
const BARE = /^\s*(bk_\S+)\s*$/;

/** Turns an `Authorization` header into a caller. */
export class Authenticator {
  readonly #directory: ApiKeyDirectory;
  readonly #clock: Clock;
  readonly #form: CredentialForm;

  constructor({ directory, clock, form }: { directory: ApiKeyDirectory; clock: Clock; form: CredentialForm }) {
    this.#directory = directory;
    this.#clock = clock;
    this.#form = form;
  }

  /** @throws PlatformError `missing-api-key` or `invalid-api-key` */
  async authenticate(header: string | undefined): Promise<Caller> {
    if (header === undefined || header.trim() === '')
      throw new PlatformError('missing-api-key', 'missing bearer token');
    const key = this.#keyOf(header);
    const prefix = key === null ? null : prefixOfApiKey(key);
    if (key === null || prefix === null) throw new PlatformError('invalid-api-key', 'malformed bearer token');
    const known = await this.#directory.find(prefix);
    if (known === null || !matchesHash(key, known.hash))
      throw new PlatformError('invalid-api-key', 'invalid bearer token');
    if (known.expiresAtMs !== null && known.expiresAtMs <= this.#clock.nowMs()) {
      throw new PlatformError('invalid-api-key', 'expired bearer token');
    }
    return callerOf(known);
  }

  #keyOf(header: string): string | null {
    const bearer = BEARER.exec(header)?.[1];
    if (bearer !== undefined || this.#form === 'bearer') return bearer ?? null;
    return BARE.exec(header)?.[1] ?? null;
  }
}

const callerOf = ({ id, accountId, scopes, endpointIds, expiresAtMs }: ApiKeySnapshot): Caller => ({
  keyId: id,
  accountId,
  scopes: scopes.filter(isScope),
  endpointIds,
  expiresAtMs,
});
