import { readAs, unreadable, type Reading } from '@berth/domain/shape';

// Bytes that are no UTF-8 would else come out as other characters, and be taken for what was written. An explicit BOM
// is content.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The JSON value that the bytes, or the text, spell. */
export function readJson(body: Uint8Array | string): Reading<unknown> {
  try {
    return readAs(JSON.parse(typeof body === 'string' ? body : decoder.decode(body)));
  } catch {
    // Without the error's own text, which quotes what it stumbled over.
    return unreadable('it is no JSON');
  }
}
