import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { EndpointId, JobOperation } from '@berth/domain';
import { accessOf, callerOf } from '@berth/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { finalize, type Observable } from 'rxjs';
import type { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { OPERATION_METADATA } from './job-operation.port.js';
import type { JobRates } from './job-rates.service.js';

type JobRequest = FastifyRequest<{ Params: { readonly endpointId?: string } }>;

/**
 * Stands behind the guards, so that nobody's key counts at an endpoint that it does not reach, and before the handler,
 * so that a refused body is not even looked at.
 */
export class JobRatesInterceptor implements NestInterceptor {
  readonly #reflector = new Reflector();
  readonly #rates: JobRates;
  readonly #directory: EndpointDirectory;

  constructor(rates: JobRates, directory: EndpointDirectory) {
    this.#rates = rates;
    this.#directory = directory;
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const operation = this.#operationOf(context);
    if (operation === undefined) return next.handle();
    const request = context.switchToHttp().getRequest<JobRequest>();
    const end = this.#rates.begin(await this.#endpointOf(context, request), operation);
    const { raw } = context.switchToHttp().getResponse<FastifyReply>();
    raw.once('close', end);
    const { socket } = request.raw;
    if (socket.destroyed) end();
    // An answer that waits behind another one on its connection is not told that the connection is gone.
    return next.handle().pipe(
      finalize(() => {
        if (socket.destroyed) end();
      }),
    );
  }

  #operationOf(context: ExecutionContext): JobOperation | undefined {
    return this.#reflector.getAllAndOverride<JobOperation | undefined>(OPERATION_METADATA, [
      context.getHandler(),
      context.getClass(),
    ]);
  }

  /** @throws PlatformError as the handler itself would, were it asked */
  async #endpointOf(context: ExecutionContext, request: JobRequest): Promise<EndpointId> {
    const access = accessOf(context);
    const { endpointId } = request.params;
    if (access.kind === 'public' || endpointId === undefined) {
      throw new Error(`${request.method} ${request.url} has an operation, and no scope or no endpoint`);
    }
    return (await this.#directory.authorize(callerOf(request), endpointId, access.scope)).id;
  }
}
