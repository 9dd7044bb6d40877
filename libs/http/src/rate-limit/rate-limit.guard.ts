import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { PlatformError } from '@berth/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findCaller } from '../auth/access.decorators.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import type { RateLimiter } from './rate-limiter.port.js';

/**
 * Stands after the authentication, so that nobody spends another's requests, and before the scopes, so that every answer
 * to a good key carries the headers, a 403 too.
 */
export class RateLimitGuard implements CanActivate {
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const caller = findCaller(http.getRequest<FastifyRequest>());
    const verdict = caller === undefined ? null : await this.#limiter.admit(caller);
    if (verdict === null) return true;
    const { spent, windows } = verdict;
    void http.getResponse<FastifyReply>().headers(rateLimitHeaders(windows));
    if (spent === null) return true;
    throw new PlatformError('rate-limited', `rate limit exceeded for the ${spent.name} window`, {
      retryAfterSeconds: spent.resetSeconds,
    });
  }
}
