import { PlatformError, type ForwardedPeer } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { addressBehind, networkOf, peerAddress, socketNetwork } from '../callers/caller-address.js';
import type { TrustedProxies } from '../callers/trusted-proxies.js';
import type { Connections } from '../connections/connections.js';
import { findCaller, setCaller } from './access.decorator.js';
import type { Authenticator, Caller } from './authenticator.js';

/** A body may take long to arrive, and a key that is revoked meanwhile is refused like any other: it is asked for again. */
const TRUSTED_FOR_MS = 1_000;

export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly proxies: TrustedProxies;
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
    const caller = await this.#prove(request.raw, networkOf(request));
    setCaller(request, caller);
    this.#admittedAtMs.set(request, this.#options.clock.monotonicMs());
    return caller;
  }

  /** Of a request that the framework never sees. @throws PlatformError as `Authenticator.authenticate` does */
  admitHandedOn(request: IncomingMessage): Promise<Caller> {
    return this.#prove(request, this.#networkBehind(request));
  }

  /**
   * `meet`, of a request that the framework never sees, to what this account has opened to everybody.
   *
   * @throws PlatformError `rate-limited`
   */
  async meetHandedOn(request: IncomingMessage, accountId: string): Promise<void> {
    const { authenticator, connections } = this.#options;
    const network = this.#networkBehind(request);
    if (await this.#hasGoodKey(request, network)) return;
    authenticator.admitStranger(network);
    connections.welcome(request.socket, accountId);
  }

  /** The address that it came from; and whether that is a proxy whose word on where others are is believed. */
  peerOf(request: IncomingMessage): ForwardedPeer {
    const { proxies } = this.#options;
    const address = peerAddress(request) ?? '';
    const isTrusted = proxies.has(address);
    return { address, isTrusted, callerAddress: isTrusted ? (addressBehind(request, proxies) ?? address) : address };
  }

  /**
   * For what is open to everybody: a caller without a good key is counted as a stranger. There is no caller then,
   * whatever was shown.
   *
   * @throws PlatformError `rate-limited`
   */
  async meet(request: FastifyRequest): Promise<void> {
    const network = networkOf(request);
    if (!(await this.#hasGoodKey(request.raw, network))) this.#options.authenticator.admitStranger(network);
  }

  /** The caller as it was let in; null where that is so long ago that it is to be asked for again. */
  admitted(request: FastifyRequest): Caller | null {
    const atMs = this.#admittedAtMs.get(request) ?? Number.NEGATIVE_INFINITY;
    return this.#options.clock.monotonicMs() - atMs < TRUSTED_FOR_MS ? (findCaller(request) ?? null) : null;
  }

  async #hasGoodKey(request: IncomingMessage, network: string): Promise<boolean> {
    if (request.headers.authorization === undefined) return false;
    try {
      await this.#prove(request, network);
      return true;
    } catch (error) {
      if (error instanceof PlatformError) return false;
      throw error;
    }
  }

  async #prove({ headers, socket }: IncomingMessage, network: string): Promise<Caller> {
    const { authenticator, connections } = this.#options;
    const caller = await authenticator.authenticate(headers.authorization, network);
    connections.prove(socket, caller.accountId);
    return caller;
  }

  #networkBehind(request: IncomingMessage): string {
    return socketNetwork(addressBehind(request, this.#options.proxies));
  }
}
