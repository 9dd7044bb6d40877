import type { Writable } from 'node:stream';

type WriteAll = NonNullable<Writable['_writev']>;

const isEmpty = ({ chunk }: Parameters<WriteAll>[0][number]): boolean => (chunk as Buffer | string).length === 0;

/**
 * Keeps empty chunks from an HTTP/2 stream. Of several that it is given together Node takes an empty last one for sent at
 * once, and frees the text of the others with it: whatever lies in that memory then would go out in its place. An HTTP
 * client over the stream writes such chunks.
 */
export function omitEmptyWrites(stream: Writable): void {
  const writeAll = stream._writev?.bind(stream);
  if (writeAll === undefined) return;
  stream._writev = (chunks, callback) => {
    const full = chunks.some(isEmpty) ? chunks.filter((each) => !isEmpty(each)) : chunks;
    if (full.length === 0) callback();
    else writeAll(full, callback);
  };
}
