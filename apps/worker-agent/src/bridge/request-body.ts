import type { IncomingMessage } from 'node:http';

/** A larger body is read to its end and forgotten, so that its sender hears an answer. */
const BODY_MAX_BYTES = 40 * 2 ** 20;
/** Past this the connection is cut: nobody posts so much by mistake. */
const READ_MAX_BYTES = 2 ** 30;

export type RequestBody =
  | { readonly kind: 'whole'; readonly text: string }
  | { readonly kind: 'oversized'; readonly bytes: number }
  /** The sender hung up. */
  | { readonly kind: 'cut' };

/** The whole body as UTF-8, whatever its content type says: the SDK labels its JSON as a form. */
export function readBody(request: IncomingMessage, maxBytes = BODY_MAX_BYTES): Promise<RequestBody> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) chunks.push(chunk);
      else chunks = [];
      if (bytes > READ_MAX_BYTES) request.destroy();
    });
    request.once('end', () => {
      if (bytes > maxBytes) resolve({ kind: 'oversized', bytes });
      else resolve({ kind: 'whole', text: Buffer.concat(chunks).toString('utf8') });
    });
    request.once('close', () => resolve({ kind: 'cut' }));
    // Followed by `close`, which says what is needed.
    request.once('error', () => resolve({ kind: 'cut' }));
  });
}
