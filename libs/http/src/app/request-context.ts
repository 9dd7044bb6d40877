import type { Random } from '@berth/lifecycle';
import { formatTraceparent, runWithLogContext, type TracePlace, type Traces } from '@berth/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findCaller } from '../auth/access.decorator.js';

const REQUEST_ID_LENGTH = 24;

const places = new WeakMap<FastifyRequest, TracePlace>();

/** Our own id for every request. A caller's `X-Request-ID` is not taken: the SDKs send the job's id there, many times. */
export const makeRequestId = (random: Random): string => `req_${random.id(REQUEST_ID_LENGTH)}`;

/** The trace that the request belongs to, as a header for what it causes; null before it is known who asks. */
export function traceparentOf(request: FastifyRequest): string | null {
  const place = places.get(request);
  return place === undefined ? null : formatTraceparent(place.context);
}

/** Gives every request its trace and its place in the log, and tells the caller the request's id. */
export function registerRequestContext(fastify: FastifyInstance, traces: Traces): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  // After the body is read, because reading it leaves the asynchronous context in which it was asked for, and after the key.
  fastify.addHook('preHandler', (request, reply, done) => {
    const { traceId } = placeOf(request, reply, traces).context;
    runWithLogContext({ requestId: request.id, traceId }, done);
  });
  if (traces.isOn) recordRequests(fastify, traces);
}

function placeOf(request: FastifyRequest, reply: FastifyReply, traces: Traces): TracePlace {
  const hasKey = findCaller(request) !== undefined;
  const place = places.get(request) ?? traces.enter(request.headers, { hasKey, agoMs: reply.elapsedTime });
  places.set(request, place);
  return place;
}

/** By its route, never by its path, which has ids and perhaps more. */
function recordRequests(fastify: FastifyInstance, traces: Traces): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url;
    const { statusCode } = reply;
    placeOf(request, reply, traces).step?.end({
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
