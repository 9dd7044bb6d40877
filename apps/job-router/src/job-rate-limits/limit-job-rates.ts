import type { INestApplicationContext } from '@nestjs/common';
import type { JobOperation } from '@berth/domain';
import { callerOf, handlerRouteOf, routeHandlers, onConnectionClosed } from '@berth/http';
import type { FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import type { EndpointDirectory } from '../directory/index.js';
import { OPERATION_METADATA } from './limited-as.decorator.js';
import type { JobRates } from './job-rates.js';

interface LimitedBy {
  readonly directory: Pick<EndpointDirectory, 'authorize'>;
  readonly rates: Pick<JobRates, 'begin'>;
}

type JobPathRequest = FastifyRequest<{ Params: { readonly endpointId?: string } }>;

/**
 * Stands behind the key and the scope, so that nobody's key counts at an endpoint that it does not reach, and before the
 * handler, so that a refused body is not even looked at.
 */
export const limitJobRates =
  ({ directory, rates }: LimitedBy) =>
  (app: INestApplicationContext): preHandlerAsyncHookHandler => {
    const operations = new Map(
      routeHandlers(app).map(({ declared, name }) => [name, declared<JobOperation>(OPERATION_METADATA)] as const),
    );
    return async (request, reply) => {
      const { access, handlerName = '' } = handlerRouteOf(request);
      const operation = operations.get(handlerName);
      if (operation === undefined) return;
      const { endpointId } = (request as JobPathRequest).params;
      if (access?.kind !== 'scope' || endpointId === undefined) {
        throw new Error(`${handlerName} has an operation, and no scope or no endpoint`);
      }
      const endpoint = await directory.authorize(callerOf(request), endpointId, access.scope);
      const end = rates.begin(endpoint.id, operation);
      const { socket } = request.raw;
      // An answer that waits behind another one on its connection is not told that the connection is gone.
      const forget = onConnectionClosed(socket, end);
      reply.raw.once('close', () => {
        forget();
        end();
      });
      if (socket.destroyed) end();
    };
  };
