import { Shares, type AccountId, type EndpointId } from '@berth/domain';
import type { LoadBalancerDirectory } from '../directory.port.js';
import { tooManyOfAccount } from './waiter.js';

export interface RequestSharesOptions {
  readonly directory: Pick<LoadBalancerDirectory, 'knownEndpoint'>;
  /** Counts a call that this router holds for the account of the endpoint, until it is ended. @throws PlatformError */
  readonly holdCall: (endpointId: EndpointId) => () => void;
}

/** Requests of all endpoints that wait here, or that workers have: each may hold a window of what its worker says. */
const REQUESTS_MAX = 10_000;
/** Of the heads of those that wait. */
const HEAD_BYTES_MAX = 256 * 1_024 * 1_024;

/** What requests to load-balanced endpoints take of this router, of which each account has a share. */
export class RequestShares {
  readonly #options: RequestSharesOptions;
  readonly #requests = new Shares<AccountId | null>(REQUESTS_MAX);
  readonly #headBytes = new Shares<AccountId | null>(HEAD_BYTES_MAX);

  constructor(options: RequestSharesOptions) {
    this.#options = options;
  }

  /** One request more, until the returned function is called. @throws PlatformError `too-many-held-requests` */
  begin(endpointId: EndpointId): () => void {
    return this.#take(this.#requests, endpointId, 1);
  }

  /**
   * It waits, until the returned function is called.
   *
   * @throws PlatformError `too-many-held-requests`, `limit-reached`; `service-unavailable` where too many calls are held
   */
  hold(endpointId: EndpointId, bytes: number): () => void {
    const endBytes = this.#take(this.#headBytes, endpointId, bytes);
    try {
      const endCall = this.#options.holdCall(endpointId);
      return () => {
        endBytes();
        endCall();
      };
    } catch (error) {
      endBytes();
      throw error;
    }
  }

  #take(shares: Shares<AccountId | null>, endpointId: EndpointId, amount: number): () => void {
    const accountId = this.#options.directory.knownEndpoint(endpointId)?.accountId ?? null;
    if (!shares.hasRoomFor(accountId, amount)) throw tooManyOfAccount();
    shares.add(accountId, amount);
    let isOver = false;
    return () => {
      if (!isOver) shares.add(accountId, -amount);
      isOver = true;
    };
  }
}
