import type { Random } from '@berth/lifecycle';
import { formatTraceparent, runWithLogContext, type TracePlace, type Traces } from '@berth/telemetry';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const REQUEST_ID_LENGTH = 24;

const places = new WeakMap<FastifyRequest, TracePlace>();

/** Our own id for every request. A caller's `X-Request-ID` is not taken: the SDKs send the job's id there, many times. */
export const makeRequestId = (random: Random): string => `req_${random.id(REQUEST_ID_LENGTH)}`;

/** The trace that the request belongs to, as a header for what it causes; null before routing has begun. */
export function traceparentOf(request: FastifyRequest): string | null {
  const place = places.get(request);
  return place === undefined ? null : formatTraceparent(place.context);
}

/** Gives every request its trace and its place in the log, and tells the caller the request's id. */
export function registerRequestContext(fastify: FastifyInstance, traces: Traces): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    places.set(request, traces.enter(request.headers));
    void reply.header('x-request-id', request.id);
    done();
  });
  // After the body is read, because reading it leaves the asynchronous context in which it was asked for.
  fastify.addHook('preHandler', (request, _reply, done) => {
    const traceId = places.get(request)?.context.traceId;
    runWithLogContext({ requestId: request.id, ...(traceId === undefined ? {} : { traceId }) }, done);
  });
  if (traces.isOn) recordRequests(fastify);
}

/** By its route, never by its path, which has ids and perhaps more. */
function recordRequests(fastify: FastifyInstance): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url;
    const { statusCode } = reply;
    places.get(request)?.step?.end({
      name: route === undefined ? request.method : `${request.method} ${route}`,
      kind: 'server',
      attributes: {
        'http.request.method': request.method,
        'http.response.status_code': statusCode,
        'berth.request.id': request.id,
        ...(route === undefined ? {} : { 'http.route': route }),
      },
      error: statusCode >= SERVER_ERROR ? `${statusCode}` : null,
    });
    done();
  });
}

/** Lower ones are the caller's own. */
const SERVER_ERROR = 500;
