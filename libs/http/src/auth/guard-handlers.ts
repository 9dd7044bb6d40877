import { PlatformError, can, type Scope, type WindowState } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimiter } from '../rate-limit/rate-limiter.port.js';
import { handlerRouteOf } from './access.decorator.js';
import type { Admission } from './admission.js';
import type { Caller } from './authenticator.js';

export interface HandlerGuards {
  readonly admission: Admission;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rateLimiter?: RateLimiter | undefined;
}

/**
 * Stands before every handler, when all of the body has come: who asks, their share of requests, and what their key may
 * do. In this order nobody spends another's requests, and every answer to a good key tells of the share, a 403 too. Nothing
 * is waited for, unless the key has to be asked for once more or requests are counted.
 */
export function guardHandlers(fastify: FastifyInstance, { admission, clock, rateLimiter }: HandlerGuards): void {
  fastify.addHook('preHandler', (request, reply, done) => {
    const { access } = handlerRouteOf(request);
    if (access?.kind !== 'scope') {
      done();
      return;
    }
    const letIn = (caller: Caller): void => {
      addToLogContext({ accountId: caller.accountId });
      requireScope(caller, access.scope, clock.nowMs());
      done();
    };
    const known = admission.admitted(request);
    if (known !== null && rateLimiter === undefined) letIn(known);
    else void ask({ admission, rateLimiter }, request, reply).then(letIn).catch(done);
  });
}

/** @throws PlatformError as `Admission.admit` does, `rate-limited` */
async function ask(
  { admission, rateLimiter }: Omit<HandlerGuards, 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const caller = admission.admitted(request) ?? (await admission.admit(request));
  const verdict = (await rateLimiter?.admit(caller)) ?? null;
  if (verdict === null) return caller;
  const { spent, windows } = verdict;
  void reply.headers(rateLimitHeaders(windows));
  if (spent === null) return caller;
  throw new PlatformError('rate-limited', `rate limit exceeded for the ${spent.name} window`, {
    retryAfterSeconds: spent.resetSeconds,
  });
}

/** @throws PlatformError where the key has not the scope that the handler declares */
function requireScope(caller: Caller, scope: Scope, nowMs: number): void {
  const verdict = can(caller, { scope }, nowMs);
  if (verdict.kind === 'refused') throw new PlatformError(verdict.code, `access denied: ${verdict.detail}`);
}

/** The two header fields that tell a caller what is left and what there is (wire contract 5.5). */
const rateLimitHeaders = (windows: readonly WindowState[]): Readonly<Record<string, string>> => ({
  ratelimit: list(windows, ({ remaining, resetSeconds }) => `r=${remaining};t=${resetSeconds}`),
  'ratelimit-policy': list(windows, ({ quota, seconds }) => `q=${quota};w=${seconds}`),
});

const list = (windows: readonly WindowState[], parametersOf: (window: WindowState) => string): string =>
  windows.map((window) => `"${window.name}";${parametersOf(window)}`).join(', ');
