import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { PlatformError, can } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyRequest } from 'fastify';
import { ACCESS_METADATA, setCaller, type DeclaredAccess } from './access.decorators.js';
import type { Authenticator } from './authenticator.js';

/** Lets a request through when its key is good and has the scope that the handler declares. */
export class AuthGuard implements CanActivate {
  readonly #reflector = new Reflector();
  readonly #authenticator: Authenticator;
  readonly #clock: Clock;

  constructor(authenticator: Authenticator, clock: Clock) {
    this.#authenticator = authenticator;
    this.#clock = clock;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const declared = this.#reflector.getAllAndOverride<DeclaredAccess | undefined>(ACCESS_METADATA, [
      context.getHandler(),
      context.getClass(),
    ]);
    // Start-up refuses handlers without a declaration; should one slip through, it is closed.
    if (declared === undefined) throw new PlatformError('scope-missing', 'access denied');
    if (declared.kind === 'public') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = await this.#authenticator.authenticate(request.headers.authorization);
    setCaller(request, caller);
    addToLogContext({ accountId: caller.accountId });
    const verdict = can(caller, { scope: declared.scope }, this.#clock.nowMs());
    if (verdict.kind === 'refused') throw new PlatformError(verdict.code, `access denied: ${verdict.detail}`);
    return true;
  }
}
