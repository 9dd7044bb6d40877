import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyRequest } from 'fastify';
import { accessOf, setCaller } from './access.decorators.js';
import type { Authenticator } from './authenticator.js';

/** Finds out who asks, wherever a handler is not open to everybody. What they may do is the next guards' question. */
export class AuthenticationGuard implements CanActivate {
  readonly #authenticator: Authenticator;

  constructor(authenticator: Authenticator) {
    this.#authenticator = authenticator;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context).kind === 'public') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = await this.#authenticator.authenticate(request.headers.authorization);
    setCaller(request, caller);
    addToLogContext({ accountId: caller.accountId });
    return true;
  }
}
