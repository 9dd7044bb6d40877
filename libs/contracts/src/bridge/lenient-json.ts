import { isUtf8 } from 'node:buffer';
import { scanJson, type JsonScan } from '@berth/domain';

interface LenientJson {
  /** Its text in UTF-8. */
  readonly utf8: Uint8Array;
  /** The wanted members of an object, each as its own text; null when it is no object. */
  readonly members: ReadonlyMap<string, Uint8Array> | null;
}

export type LenientReading =
  { readonly kind: 'json'; readonly json: LenientJson } | { readonly kind: 'too-deep' | 'not-json' };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const UPPER_I = 0x49;
const UPPER_N = 0x4e;
const NAN_BYTES = 3;
const INFINITY_BYTES = 8;
const NULL = Buffer.from('null');

/**
 * Finds the wanted members in a worker's JSON text, of which nothing else is made. `NaN` and infinities, which no JSON
 * reader would take, become `null`; all other text stays as it came. Bytes that are no UTF-8 become U+FFFD.
 */
export function readLenient(body: Uint8Array, wanted: ReadonlySet<string>): LenientReading {
  const came = isUtf8(body) ? body : Buffer.from(textOf(body), 'utf8');
  const scan = scanJson(came, wanted);
  if (!isJson(scan)) return scan;
  if (scan.nonNumbers === 0) return readingOf(came, scan);
  const utf8 = withNulls(came, scan.nonNumbers);
  const strict = scanJson(utf8, wanted);
  return isJson(strict) ? readingOf(utf8, strict) : strict;
}

/** UTF-8 as text. */
export const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');

type ValidScan = JsonScan & { readonly kind: 'object' | 'other' };

const isJson = (scan: JsonScan): scan is ValidScan => scan.kind === 'object' || scan.kind === 'other';

function readingOf(utf8: Uint8Array, { kind, members }: ValidScan): LenientReading {
  if (kind === 'other') return { kind: 'json', json: { utf8, members: null } };
  const slices = [...members].map(([name, { start, end }]) => [name, utf8.subarray(start, end)] as const);
  return { kind: 'json', json: { utf8, members: new Map(slices) } };
}

/** @param bytes what the scan has accepted: outside of strings an N or I begins one of the words to replace */
function withNulls(bytes: Uint8Array, count: number): Uint8Array {
  const written = new Uint8Array(bytes.length + count * (NULL.length - NAN_BYTES));
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    const end = endOfPlain(bytes, at);
    written.set(bytes.subarray(at, end), length);
    length += end - at;
    if (end === bytes.length) break;
    written.set(NULL, length);
    length += NULL.length;
    at = endOfNonNumber(bytes, end);
  }
  return written.subarray(0, length);
}

/** Where the next `NaN` or infinity begins, outside of strings; the end of the text when there is none. */
function endOfPlain(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = closingQuote(bytes, at);
    else if (byte === UPPER_N || byte === UPPER_I) return at;
    else if (byte === MINUS && bytes[at + 1] === UPPER_I) return at;
  }
  return bytes.length;
}

function closingQuote(bytes: Uint8Array, quote: number): number {
  let at = quote + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function endOfNonNumber(bytes: Uint8Array, start: number): number {
  if (bytes[start] === UPPER_N) return start + NAN_BYTES;
  return start + INFINITY_BYTES + (bytes[start] === MINUS ? 1 : 0);
}
