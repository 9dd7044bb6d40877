import type { ClientRequest, IncomingMessage } from 'node:http';
import { forwardTrailers } from '@berth/domain';
import { framingOf } from '../visit.js';
import { flow } from './flow.js';
import { trailerPairs } from './trailer-pairs.js';

export interface BodyListeners {
  /** Bytes have come, so many of them by now. False: it goes on no further. */
  readonly onBytes: (bytes: number) => boolean;
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
  upstream.flushHeaders();
  let bytes = 0;
  flow(request, upstream, {
    onChunk: ({ length }) => {
      bytes += length;
      return listeners.onBytes(bytes);
    },
    onEnd: () => {
      if (request.rawTrailers.length > 0) upstream.addTrailers(trailerPairs(forwardTrailers(request.rawTrailers)));
      upstream.end();
      listeners.onSent();
    },
  });
}
