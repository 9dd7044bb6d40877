import type { Random } from '@berth/lifecycle';
import { continueTrace, formatTraceparent, readTrace, runWithLogContext } from '@berth/telemetry';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const REQUEST_ID_LENGTH = 24;

const traces = new WeakMap<FastifyRequest, ReturnType<typeof continueTrace>>();

/** Our own id for every request. A caller's `X-Request-ID` is not taken: the SDKs send the job's id there, many times. */
export const makeRequestId = (random: Random): string => `req_${random.id(REQUEST_ID_LENGTH)}`;

/** The trace that the request belongs to, as a header for what it causes; null before routing has begun. */
export function traceparentOf(request: FastifyRequest): string | null {
  const trace = traces.get(request);
  return trace === undefined ? null : formatTraceparent(trace);
}

/** Gives every request its trace and its place in the log, and tells the caller the request's id. */
export function registerRequestContext(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    traces.set(request, continueTrace(readTrace(request.headers)));
    void reply.header('x-request-id', request.id);
    done();
  });
  // After the body is read, because reading it leaves the asynchronous context in which it was asked for.
  fastify.addHook('preHandler', (request, _reply, done) => {
    const traceId = traces.get(request)?.traceId;
    runWithLogContext({ requestId: request.id, ...(traceId === undefined ? {} : { traceId }) }, done);
  });
}
