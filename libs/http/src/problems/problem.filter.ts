import { Catch, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { PlatformError } from '@berth/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestLines } from '../app/request-lines.js';
import { toProblem, type Problem } from './problem.js';
import type { ProblemRendering } from './renderings.js';

export interface ProblemFilterOptions {
  readonly lines: RequestLines;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  readonly renderingOf: (request: { readonly url: string }) => ProblemRendering;
  /** Methods that the path of an unanswered request does answer. */
  readonly allowedMethods: (url: string) => readonly string[];
  /** Where a path that is not here is served, as a sentence; null: nowhere that is known. */
  readonly elsewhere?: (url: string) => string | null;
}

/** The only exception filter: everything that is thrown leaves through here, in one shape per kind of client. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #options: ProblemFilterOptions;

  constructor(options: ProblemFilterOptions) {
    this.#options = options;
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const problem = this.#problemOf(thrown, request);
    if (problem.status >= 500) this.#log(problem, thrown, request);
    if (reply.sent || reply.raw.headersSent) reply.raw.destroy();
    else this.answer(problem, request, reply);
  }

  #problemOf(thrown: unknown, request: FastifyRequest): Problem {
    if (hasBrokenOff(request) && !(thrown instanceof PlatformError)) {
      return toProblem(new PlatformError('malformed-request', 'The request broke off.', { cause: thrown }));
    }
    const elsewhere = isNothingHere(thrown) ? (this.#options.elsewhere?.(request.url) ?? null) : null;
    if (elsewhere !== null) return toProblem(new PlatformError('route-not-found', elsewhere, { cause: thrown }));
    return toProblem(thrown, thrown instanceof NotFoundException ? this.#otherMethods(request) : []);
  }

  /** Also for who fails a request without throwing: hooks and proxies. */
  answer(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
    const page = `${this.#options.docsUrl}/problems/${problem.code}`;
    const { contentType, body } = this.#options.renderingOf(request)(problem, page, request.id);
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    if (problem.allow.length > 0) void reply.header('allow', problem.allow.join(', '));
    // A handler may have been done when the transaction around it failed: what it showed is not there.
    if (problem.tag === undefined) void reply.removeHeader('etag');
    else void reply.header('etag', problem.tag);
    if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds));
    void reply.status(problem.status).header('content-type', contentType).send(JSON.stringify(body));
  }

  /** Empty where the path answers the method and has nothing there, like a folder of files does. */
  #otherMethods({ method, url }: FastifyRequest): readonly string[] {
    const methods = this.#options.allowedMethods(url);
    return methods.includes(method) ? [] : methods;
  }

  #log(problem: Problem, thrown: unknown, request: FastifyRequest): void {
    const fields = { requestId: request.id, method: request.method, path: request.url.split('?')[0], error: thrown };
    const lines = this.#options.lines.of(request);
    if (problem.status === 503) lines.warn(problem.detail, fields);
    else lines.error('a request failed on our side', fields);
  }
}

/** No such path, or one that names an endpoint which is none. */
const isNothingHere = (thrown: unknown): boolean =>
  thrown instanceof NotFoundException || (thrown instanceof PlatformError && thrown.code === 'endpoint-not-found');

/** The caller went away before all of the request had arrived. Nothing of ours has failed, and nobody hears the answer. */
const hasBrokenOff = ({ raw }: FastifyRequest): boolean => raw.destroyed && !raw.complete;
