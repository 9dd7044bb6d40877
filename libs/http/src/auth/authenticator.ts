import type { ApiKeySnapshot } from '@berth/contracts';
import { PlatformError, isScope, type KeyGrant } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { MetricRegistry } from '@berth/telemetry';
import { Strangers } from '../callers/strangers.js';
import type { ApiKeyDirectory } from './api-key-directory.port.js';
import { prefixOfApiKey } from './api-key.js';
import { KeyLookups, type ShownKey } from './key-lookups.js';

/** The caller, as far as the key tells. */
export interface Caller extends KeyGrant {
  readonly keyId: string;
}

/** `bearer-or-bare`: job paths also take the key without a scheme (wire contract 2.2). */
export type CredentialForm = 'bearer' | 'bearer-or-bare';

const BEARER = /^bearer +(\S+) *$/i;
const BARE = /^\s*(bk_\S+)\s*$/;

export interface AuthenticatorOptions {
  readonly directory: ApiKeyDirectory;
  readonly clock: Clock;
  readonly form: CredentialForm;
  readonly metrics: MetricRegistry;
}

/** Turns an `Authorization` header into a caller. */
export class Authenticator {
  readonly #clock: Clock;
  readonly #form: CredentialForm;
  readonly #strangers: Strangers;
  readonly #lookups: KeyLookups;

  constructor({ clock, directory, form, metrics }: AuthenticatorOptions) {
    this.#clock = clock;
    this.#form = form;
    this.#strangers = new Strangers(clock);
    this.#lookups = new KeyLookups({ directory, strangers: this.#strangers, clock, metrics });
  }

  /**
   * @param network of the caller: those without a good key are limited by it
   * @throws PlatformError `missing-api-key`, `invalid-api-key`, `rate-limited`; `service-unavailable` when nobody can tell
   */
  async authenticate(header: string | undefined, network: string): Promise<Caller> {
    const known = await this.#lookups.find(this.#shownIn(header, network));
    if (known === null) throw new PlatformError('invalid-api-key', 'invalid bearer token');
    if (known.expiresAtMs !== null && known.expiresAtMs <= this.#clock.nowMs()) {
      throw new PlatformError('invalid-api-key', 'expired bearer token');
    }
    return callerOf(known);
  }

  /** Counts a request, at what is open to everybody, of a caller that has shown no good key. @throws PlatformError `rate-limited` */
  admitStranger(network: string): void {
    this.#strangers.admitPublicAsk(network);
  }

  /** @throws PlatformError `missing-api-key`, `invalid-api-key`, `rate-limited` */
  #shownIn(header: string | undefined, network: string): ShownKey {
    const key = header === undefined ? null : this.#keyOf(header);
    const prefix = key === null ? null : prefixOfApiKey(key);
    if (key !== null && prefix !== null) return { key, prefix, network };
    this.#strangers.admitAsk(network);
    if (header === undefined || header.trim() === '')
      throw new PlatformError('missing-api-key', 'missing bearer token');
    throw new PlatformError('invalid-api-key', 'malformed bearer token');
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
