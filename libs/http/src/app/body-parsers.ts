import type { ServerResponse } from 'node:http';
import { PlatformError } from '@berth/domain';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ArrivingBodies } from '../bodies/arriving-bodies.js';
import { READ_JSON_TYPES } from './json-type.js';

const MEDIA_TYPE = 'Send the body as application/json.';
const REQUEST_TIMEOUT = 408;

/**
 * Bodies arrive in handlers as the text that came: a DTO is parsed and checked by the pipe, after the key; a job's text
 * is kept as it is. An empty body is no error under any content type, since official clients send
 * `Content-Type: application/json` with empty bodies (wire contract 2.3).
 */
export function registerBodyParsers(fastify: FastifyInstance, bodies: ArrivingBodies): void {
  bodies.expectations.watch(fastify.server);
  fastify.removeAllContentTypeParsers();
  // A parser is not told where the answer goes.
  const answers = new WeakMap<FastifyRequest, ServerResponse>();
  fastify.addHook('onRequest', (request, reply, done) => {
    answers.set(request, reply.raw);
    done();
  });
  fastify.addContentTypeParser(READ_JSON_TYPES, async (request: FastifyRequest) =>
    bodies.read(request, answers.get(request) as ServerResponse),
  );
  fastify.addContentTypeParser('*', (request, _payload, done) => {
    if (request.headers['content-length'] === '0') done(null, '');
    else done(new PlatformError('unsupported-media-type', MEDIA_TYPE));
  });
  letSendersFinish(fastify, bodies);
}

/**
 * A body that is refused is read to its end and thrown away: many clients send all of it before they read anything, and
 * would see a broken connection, as the framework means them to, in place of the answer. One that came too slowly, or
 * whose sender still waits to be told to send it, is not waited for.
 */
function letSendersFinish(fastify: FastifyInstance, bodies: ArrivingBodies): void {
  const refuseRest = (request: FastifyRequest, reply: FastifyReply): void => {
    if (reply.statusCode === REQUEST_TIMEOUT || bodies.expectations.isWaiting(request.raw)) {
      void reply.header('connection', 'close');
    } else {
      void reply.removeHeader('connection');
      bodies.throwAway(request);
    }
  };
  fastify.addHook('onSend', (request, reply, ...[payload, done]) => {
    if (!isWhole(request)) refuseRest(request, reply);
    done(null, payload);
  });
  // Answers that are written piece by piece pass no hook before they end.
  fastify.addHook('onResponse', (request, _reply, done) => {
    if (!isWhole(request) && !request.raw.destroyed) bodies.throwAway(request);
    done();
  });
}

const isWhole = ({ headers, raw }: FastifyRequest): boolean =>
  raw.complete || (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined);
