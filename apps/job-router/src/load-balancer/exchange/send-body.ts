import type { ClientRequest, IncomingMessage } from 'node:http';
import { forwardTrailers } from '@berth/domain';
import { framingOf } from '../visit.js';
import { flow } from './flow.js';
import { sendHead } from './send-head.js';
import { trailerPairs } from './trailer-pairs.js';

export interface BodyListeners {
  /** So many bytes have come. False: it goes on no further. */
  readonly onBytes: (bytes: number) => boolean;
  /** The worker takes again what it had held up. */
  readonly onTaken: () => void;
  /** The worker has the request to its end. */
  readonly onSent: () => void;
}

/** Sends the head that is ready, and behind it what the caller sends, as fast as the worker takes it. */
export function sendBody(request: IncomingMessage, upstream: ClientRequest, listeners: BodyListeners): void {
  if (framingOf(request) === 'none') {
    upstream.end();
    listeners.onSent();
    return;
  }
  sendHead(upstream);
  upstream.on('drain', listeners.onTaken);
  flow(request, upstream, {
    onChunk: ({ length }) => listeners.onBytes(length),
    onEnd: () => {
      if (request.rawTrailers.length > 0) upstream.addTrailers(trailerPairs(forwardTrailers(request.rawTrailers)));
      upstream.end();
      listeners.onSent();
    },
  });
}
