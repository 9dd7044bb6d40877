import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { PlatformError, can } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { FastifyRequest } from 'fastify';
import { accessOf, callerOf } from './access.decorators.js';

/** Lets a caller through whose key has the scope that the handler declares. */
export class ScopeGuard implements CanActivate {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  canActivate(context: ExecutionContext): boolean {
    const declared = accessOf(context);
    if (declared.kind === 'public') return true;
    const caller = callerOf(context.switchToHttp().getRequest<FastifyRequest>());
    const verdict = can(caller, { scope: declared.scope }, this.#clock.nowMs());
    if (verdict.kind === 'refused') throw new PlatformError(verdict.code, `access denied: ${verdict.detail}`);
    return true;
  }
}
