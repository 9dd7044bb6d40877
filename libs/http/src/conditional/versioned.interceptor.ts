import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { isFresh, tagOf } from './version-tag.js';
import { VersionedAnswer } from './versioned-answer.js';

const NOT_MODIFIED = 304;

/** Turns `Versioned` answers into bodies with an `ETag`. */
export class VersionedInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return next
      .handle()
      .pipe(
        map((answer: unknown) =>
          answer instanceof VersionedAnswer ? bodyOf(answer, http.getRequest(), http.getResponse()) : answer,
        ),
      );
  }
}

function bodyOf({ body, version }: VersionedAnswer<unknown>, request: FastifyRequest, reply: FastifyReply): unknown {
  void reply.header('etag', tagOf(version));
  const known = request.headers['if-none-match'];
  if (known === undefined || !isRead(request) || !isFresh(known, version)) return body;
  void reply.status(NOT_MODIFIED);
  return undefined;
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';
