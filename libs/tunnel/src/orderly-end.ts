import type { Http2Stream } from 'node:http2';

/** Given to a stream where it begins, so that its end waits for `endInOrder`. */
export const ENDS_BY_TRAILERS = { waitForTrailers: true } as const;

/**
 * Only a side that has said all ends its half of the stream. Node ends it also where a stream is destroyed, before it says
 * that it is reset: what was cut would pass for whole at the other side.
 */
export function endInOrder(stream: Http2Stream): void {
  stream.on('wantTrailers', () => {
    if (!stream.closed && !stream.destroyed) stream.sendTrailers({});
  });
}
