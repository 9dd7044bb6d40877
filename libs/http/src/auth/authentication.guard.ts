import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyRequest } from 'fastify';
import { accessOf } from './access.decorators.js';
import type { Admission } from './admission.js';

/**
 * Finds out who asks, wherever a handler is not open to everybody. What they may do is the next guards' question. The
 * edge has let them in already, before their body was read: here it is confirmed.
 */
export class AuthenticationGuard implements CanActivate {
  readonly #admission: Admission;

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context).kind === 'public') return true;
    const caller = await this.#admission.confirm(context.switchToHttp().getRequest<FastifyRequest>());
    addToLogContext({ accountId: caller.accountId });
    return true;
  }
}
