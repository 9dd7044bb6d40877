import { PlatformError } from '@berth/domain';

/** The outcome of reading something that others wrote: the value, or why it is none. Reading never throws. */
export type Reading<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  /** `reason` names the member and what is wrong with it, and never quotes what stood there. */
  | { readonly kind: 'unreadable'; readonly reason: string };

export const readAs = <Value>(value: Value): Reading<Value> => ({ kind: 'value', value });

export const unreadable = (reason: string): { readonly kind: 'unreadable'; readonly reason: string } => ({
  kind: 'unreadable',
  reason,
});

/** @param path of the value, where it is a part of a message. @throws PlatformError `invalid-fields`, naming the member */
export function requireRead<Value>(reading: Reading<Value>, path = '$'): Value {
  if (reading.kind === 'value') return reading.value;
  throw new PlatformError('invalid-fields', `${reading.reason.replace('$', () => path)}.`);
}

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
