import { PlatformError } from '@berth/domain';
import type { FastifyInstance } from 'fastify';

const MEDIA_TYPE = 'Send the body as application/json.';
const CODING = 'Send the body as it is, without a content coding.';
const JSON_TYPE = /^application\/([\w.+-]+\+)?json(;|$)/i;

/**
 * Bodies arrive in handlers as the text that came: a DTO is parsed and checked by the pipe, after the key; a job's text
 * is kept as it is. An empty body is no error under any content type, since official clients send
 * `Content-Type: application/json` with empty bodies (wire contract 2.3).
 */
export function registerBodyParsers(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      requirePlain(request.headers['content-encoding']);
      done(null, decode(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  fastify.addContentTypeParser('*', (request, _payload, done) => {
    if (request.headers['content-length'] === '0') done(null, '');
    else done(new PlatformError('unsupported-media-type', MEDIA_TYPE));
  });
  letSendersFinish(fastify);
}

/**
 * A body that is refused is read to its end and thrown away: many clients send all of it before they read anything, and
 * would see a broken connection, as the framework means them to, in place of the answer. The time limit for a request to
 * arrive bounds it.
 */
function letSendersFinish(fastify: FastifyInstance): void {
  fastify.addHook('onSend', async ({ headers, raw }, reply) => {
    const isSent =
      raw.complete || (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined);
    if (!isSent) reply.removeHeader('connection');
  });
}

/** Unpacking would let a small body be a huge one. */
function requirePlain(coding = 'identity'): void {
  if (coding !== 'identity') throw new PlatformError('unsupported-media-type', CODING);
}

/** A byte sequence that is no text would be changed silently by a forgiving decoder. */
function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new PlatformError('body-not-json', 'The body is not UTF-8 text.', { cause: error });
  }
}
