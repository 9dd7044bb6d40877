import { PlatformError, type ErrorCode } from '@berth/domain';
import type { Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { FastifyInstance } from 'fastify';
import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { toProblem } from '../problems/problem.js';
import type { ProblemRendering } from '../problems/renderings.js';
import { makeRequestId } from './request-context.js';

interface RawAnswerOptions {
  readonly logger: Pick<Logger, 'debug'>;
  readonly random: Random;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  /** There is no path to tell the kind of client by. */
  readonly renderingOf: (request: { readonly url: string }) => ProblemRendering;
}

export interface UnreadableRequestsOptions extends RawAnswerOptions {
  /** Whether an answer may be written there: no, where somebody else's may be under way. */
  readonly mayAnswer: (socket: Socket) => boolean;
}

export interface RefusedTunnelsOptions extends RawAnswerOptions {
  /** No request is under way there, whose answer a word of ours could fall into. */
  readonly isIdle: (socket: Socket) => boolean;
}

type Unreadable = Extract<ErrorCode, 'malformed-request' | 'headers-too-large' | 'request-timeout'>;

const CODES: Readonly<Record<string, Unreadable>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};

const DETAILS: Readonly<Record<Unreadable, string>> = {
  'malformed-request': 'What arrived is no HTTP/1.1 request.',
  'headers-too-large': 'The headers are larger than the server accepts.',
  'request-timeout': 'The request did not arrive in time.',
};

/**
 * Answers bytes that never became a request, or broke the rest of one: no handler, hook or filter is called for those. The
 * connection ends, since nobody can tell where the next request begins.
 */
export function answerUnreadable(options: UnreadableRequestsOptions) {
  return (error: Error & { readonly code?: string }, socket: Socket): void => {
    const cause = error.code ?? '';
    if (socket.writable && cause !== 'ECONNRESET' && options.mayAnswer(socket)) {
      const code = CODES[cause] ?? 'malformed-request';
      socket.write(rawAnswer(new PlatformError(code, DETAILS[code]), cause, options));
    }
    socket.destroy(error);
  };
}

/** The edge is no proxy: who asks for a way to somewhere else is told so, where Node would only close the connection. */
export function refuseTunnels(server: Server, options: RefusedTunnelsOptions): void {
  server.on('connect', ({ socket }) => {
    socket.on('error', (error) => {
      options.logger.debug('the connection of a refused tunnel broke', { error });
    });
    if (!options.isIdle(socket)) {
      socket.destroy();
      return;
    }
    const refusal = new PlatformError('method-not-allowed', 'There is no CONNECT here.');
    socket.write(rawAnswer(refusal, 'CONNECT', options));
    socket.destroySoon();
  });
}

function rawAnswer(
  error: PlatformError,
  cause: string,
  { docsUrl, logger, random, renderingOf }: RawAnswerOptions,
): string {
  const problem = toProblem(error);
  const requestId = makeRequestId(random);
  logger.debug(`an unreadable request ${String(problem.status)}`, { requestId, cause });
  const { body, contentType } = renderingOf({ url: '/' })(problem, `${docsUrl}/problems/${error.code}`, requestId);
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${String(problem.status)} ${STATUS_CODES[problem.status] ?? ''}`,
    `content-type: ${contentType}`,
    `content-length: ${String(Buffer.byteLength(text))}`,
    `x-request-id: ${requestId}`,
    'connection: close',
    '',
    text,
  ].join('\r\n');
}

/** HTTP/1.1 requires it, and which server was meant should not be guessed. */
export function requireHost(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host !== undefined || request.raw.httpVersion === '1.0') {
      done();
    } else {
      void reply.header('connection', 'close');
      done(new PlatformError('malformed-request', 'There is no Host header.'));
    }
  });
}
