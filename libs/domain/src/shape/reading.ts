import { PlatformError } from '../errors/index.js';

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
