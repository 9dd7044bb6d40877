import { PlatformError } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { FastifyRequest } from 'fastify';
import { networkOf } from '../callers/caller-address.js';
import type { Connections } from '../connections/connections.js';
import { findCaller, setCaller } from './access.decorator.js';
import type { Authenticator, Caller } from './authenticator.js';

/** A body may take long to arrive, and a key that is revoked meanwhile is refused like any other: it is asked for again. */
const TRUSTED_FOR_MS = 1_000;

export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly connections: Connections;
  readonly clock: Clock;
}

/** Lets callers in: before a byte of their body is read, and once more when all of it has come. */
export class Admission {
  readonly #options: AdmissionOptions;
  /** Request → monotonic instant. */
  readonly #admittedAtMs = new WeakMap<FastifyRequest, number>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** @throws PlatformError as `Authenticator.authenticate` does */
  async admit(request: FastifyRequest): Promise<Caller> {
    const { authenticator, clock, connections } = this.#options;
    const caller = await authenticator.authenticate(request.headers.authorization, networkOf(request));
    setCaller(request, caller);
    this.#admittedAtMs.set(request, clock.monotonicMs());
    connections.prove(request.raw.socket, caller.accountId);
    return caller;
  }

  /**
   * For what is open to everybody: a caller without a good key is counted as a stranger. There is no caller then,
   * whatever was shown.
   *
   * @throws PlatformError `rate-limited`
   */
  async meet(request: FastifyRequest): Promise<void> {
    if (!(await this.#hasGoodKey(request))) this.#options.authenticator.admitStranger(networkOf(request));
  }

  /** The caller as it was let in; null where that is so long ago that it is to be asked for again. */
  admitted(request: FastifyRequest): Caller | null {
    const atMs = this.#admittedAtMs.get(request) ?? Number.NEGATIVE_INFINITY;
    return this.#options.clock.monotonicMs() - atMs < TRUSTED_FOR_MS ? (findCaller(request) ?? null) : null;
  }

  async #hasGoodKey(request: FastifyRequest): Promise<boolean> {
    const { authenticator, connections } = this.#options;
    const { authorization } = request.headers;
    if (authorization === undefined) return false;
    try {
      const { accountId } = await authenticator.authenticate(authorization, networkOf(request));
      connections.prove(request.raw.socket, accountId);
      return true;
    } catch (error) {
      if (error instanceof PlatformError) return false;
      throw error;
    }
  }
}
