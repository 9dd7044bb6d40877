import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { HostId } from '@berth/domain';
import { ENDS_BY_TRAILERS, endInOrder } from './orderly-end.js';
import { TunnelError } from './tunnel-error.js';
import { admission, readHead, readMayWait, refusal, SESSION_OPTIONS, SESSION_WINDOW_BYTES } from './tunnel-protocol.js';
import type { LinkAnswer, LinkWish, WorkerLink } from './worker-link.port.js';

/**
 * Answers what comes through tunnels by a link of this host. Tunnels are given to it as connections; it listens nowhere.
 */
export function serveLink(hostId: HostId, link: WorkerLink): Http2Server {
  const server = createServer(SESSION_OPTIONS);
  server.on('session', (session) => {
    session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    // Its end is told by `close`, which comes after every error.
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const target = readHead(headers, hostId);
    if (target === null) refuse(stream, { kind: 'refused', reason: 'unknown-worker' });
    else void answer(stream, link.open(target, closedSignal(stream), wishOf(stream, headers)));
  });
  return server;
}

async function answer(stream: ServerHttp2Stream, opening: Promise<LinkAnswer>): Promise<void> {
  const opened = await opening;
  if (opened.kind === 'refused') refuse(stream, opened);
  else if (stream.destroyed) opened.stream.destroy();
  else {
    endInOrder(stream);
    stream.respond(admission(), ENDS_BY_TRAILERS);
    join(stream, opened.stream);
  }
}

function refuse(stream: ServerHttp2Stream, { reason }: Extract<LinkAnswer, { kind: 'refused' }>): void {
  if (stream.destroyed) return;
  stream.respond(refusal(reason), { endStream: true });
  // What the router may have sent already goes nowhere.
  stream.resume();
}

/**
 * Each direction ends for itself; one that breaks takes the other along, so that an answer that was cut is never taken for
 * one that ended. By hand: two pipelines of Node were the largest part of what a profile of the agent showed of a request.
 */
function join(stream: ServerHttp2Stream, worker: Duplex): void {
  const fail = (error: Error): void => {
    stream.destroy(error);
    worker.destroy();
  };
  // A stream that is reset looks as if both of its sides had ended in order, but for this event.
  stream.once('aborted', () => worker.destroy());
  stream.on('error', fail);
  stream.once('close', () => {
    if (!hasEnded(stream)) worker.destroy();
  });
  worker.on('error', fail);
  worker.once('close', () => {
    if (!hasEnded(worker)) stream.destroy(new TunnelError('The connection to the worker was cut.'));
  });
  stream.pipe(worker);
  worker.pipe(stream);
}

/** Whether both of its halves have come to their end in order. */
const hasEnded = ({ readableEnded, writableFinished }: Duplex): boolean => readableEnded && writableFinished;

/** One for all: what Node makes where none is given was the largest single function in a profile of the agent. */
const CLOSED = new TunnelError('The request is over.');

/** Each tunnel is one router's, which has a share of each worker. */
const wishOf = ({ session }: ServerHttp2Stream, headers: IncomingHttpHeaders): LinkWish => ({
  mayWait: readMayWait(headers),
  ...(session === undefined ? {} : { asker: session }),
});

function closedSignal(stream: ServerHttp2Stream): AbortSignal {
  const closed = new AbortController();
  stream.once('close', () => {
    closed.abort(CLOSED);
  });
  return closed.signal;
}
