import type { StreamCursor } from '@berth/jobs';
import { decodeText } from '../broker/text.js';

const VERSION = 1;

interface ReaderCursorV1 extends StreamCursor {
  readonly v: typeof VERSION;
}

export function encodeReaderCursor({ attempt, index }: StreamCursor): string {
  const wire: ReaderCursorV1 = { v: VERSION, attempt, index };
  return JSON.stringify(wire);
}

/** @throws Error when the cursor was written in a form that this process does not know */
export function decodeReaderCursor(body: Uint8Array): StreamCursor {
  const { v, attempt, index } = JSON.parse(decodeText(body)) as ReaderCursorV1;
  if ((v as number) !== VERSION)
    throw new Error(`reader cursor of version ${String(v)}: this process reads ${VERSION}`);
  return { attempt, index };
}
