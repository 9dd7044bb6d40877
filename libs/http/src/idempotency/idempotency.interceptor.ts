import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { callerOf } from '../auth/access.decorator.js';
import type { IdempotencyLedger, IdempotentRequest, KeptAnswer } from './idempotency-ledger.port.js';
import { parseIdempotencyKey } from './idempotency-key.js';
import { IDEMPOTENT_METADATA, type IdempotentOptions } from './idempotent.decorator.js';
import { answerRights, requestHash } from './request-hash.js';

/** Answers an idempotent request with a key once; every later one gets the same text. */
export class IdempotencyInterceptor implements NestInterceptor {
  readonly #reflector = new Reflector();
  readonly #ledger: IdempotencyLedger;

  constructor(ledger: IdempotencyLedger) {
    this.#ledger = ledger;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const options = this.#reflector.get<IdempotentOptions | undefined>(IDEMPOTENT_METADATA, context.getHandler());
    if (options === undefined) return next.handle();
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = parseIdempotencyKey(request.headers['idempotency-key']);
    if (key === null) return next.handle();
    return from(this.#once(requestOf(request, key, options), context.switchToHttp().getResponse<FastifyReply>(), next));
  }

  async #once(request: IdempotentRequest, reply: FastifyReply, next: CallHandler): Promise<string> {
    const { answer, isReplayed } = await this.#ledger.once(request, async (): Promise<KeptAnswer> => {
      const body: unknown = await lastValueFrom(next.handle());
      const tag = reply.getHeader('etag');
      return { status: reply.statusCode, body: JSON.stringify(body), tag: typeof tag === 'string' ? tag : null };
    });
    if (isReplayed) void reply.header('idempotency-replayed', 'true');
    if (answer.tag !== null) void reply.header('etag', answer.tag);
    void reply.status(answer.status).header('content-type', 'application/json; charset=utf-8');
    return answer.body;
  }
}

function requestOf(request: FastifyRequest, key: string, options: IdempotentOptions): IdempotentRequest {
  const { body, method, params, query, routeOptions } = request;
  const caller = callerOf(request);
  return {
    accountId: caller.accountId,
    route: `${method} ${routeOptions.url ?? ''}`,
    key,
    hash: requestHash({
      rights: answerRights(caller, options),
      params,
      query,
      body: typeof body === 'string' ? body : '',
    }),
  };
}
