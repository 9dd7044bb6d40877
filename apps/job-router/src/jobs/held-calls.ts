import type { EndpointSnapshot } from '@berth/contracts';
import { ACCOUNT_LIMITS, PlatformError, limitReached, type AccountId, type EndpointId } from '@berth/domain';

export interface HeldCallsOptions {
  /** Null: not known here. */
  readonly endpointOf: (endpointId: EndpointId) => Pick<EndpointSnapshot, 'accountId' | 'limits'> | null;
  /** Other than the default only in a test. */
  readonly callsMax?: number;
}

/** Callers held at one time in this router; each costs a timer and, where it waits for a job, a subscription. */
const CALLS_MAX = 20_000;
const RETRY_SECONDS = 1;

/** How many callers this router holds until something happens to a job or a worker is free, and for which account. */
export class HeldCalls {
  readonly #options: HeldCallsOptions;
  readonly #accounts = new Map<AccountId | null, number>();
  #size = 0;

  constructor(options: HeldCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * One more, until the returned function is called; again is the same as once.
   *
   * @throws PlatformError `limit-reached`, `service-unavailable` when too many are held already
   */
  begin(endpointId: EndpointId): () => void {
    const { callsMax = CALLS_MAX, endpointOf } = this.#options;
    const endpoint = endpointOf(endpointId);
    const accountId = endpoint?.accountId ?? null;
    const limit = endpoint?.limits?.heldCallsPerRouter ?? ACCOUNT_LIMITS.heldCallsPerRouter.default;
    const held = this.#accounts.get(accountId) ?? 0;
    if (held >= limit) throw limitReached('heldCallsPerRouter', limit, RETRY_SECONDS);
    if (this.#size >= callsMax) throw crowded();
    this.#size += 1;
    this.#accounts.set(accountId, held + 1);
    let isOver = false;
    return () => {
      if (!isOver) this.#end(accountId);
      isOver = true;
    };
  }

  #end(accountId: AccountId | null): void {
    this.#size -= 1;
    const left = (this.#accounts.get(accountId) ?? 1) - 1;
    if (left === 0) this.#accounts.delete(accountId);
    else this.#accounts.set(accountId, left);
  }
}

const crowded = (): PlatformError =>
  new PlatformError('service-unavailable', 'Too many requests wait here for a job to end, or for a worker.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
