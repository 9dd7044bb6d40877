import { INSTANT_MAX_MS } from '@berth/domain';
import { readAs, readJson, unreadable, type Reading } from './reading.js';

/**
 * Says what keeps a value from having a shape, beginning with its path; null where nothing does. Members that the shape
 * does not name are let pass: a later version may have added them. Never throws.
 */
export type Shape = (value: unknown, path: string) => string | null;

const ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Longest text that is let pass where no other bound is named. */
const TEXT_MAX = 4_096;

const shapeOf =
  (what: string, holds: (value: unknown) => boolean): Shape =>
  (value, path) =>
    holds(value) ? null : `${path} is no ${what}`;

/** A word that may stand in a subject or a key. */
export const id: Shape = shapeOf('id', (value) => typeof value === 'string' && ID.test(value));
export const flag: Shape = shapeOf('boolean', (value) => typeof value === 'boolean');
/** A whole number from 0 on. */
export const count: Shape = shapeOf('count', (value) => Number.isSafeInteger(value) && Number(value) >= 0);
/** Unix milliseconds; fractions are let pass, since clocks are divided now and then. */
export const instant: Shape = shapeOf(
  'instant',
  (value) => typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= INSTANT_MAX_MS,
);

/** A number from 0 on, whole or not. */
export const amount = (max = Number.POSITIVE_INFINITY): Shape =>
  shapeOf('amount', (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= max);

/** Largest that a database keeps in an `integer`. */
const INTEGER_MAX = 2 ** 31 - 1;

export const integer = (min: number, max = INTEGER_MAX): Shape =>
  shapeOf(`integer from ${min} to ${max}`, (value) => {
    return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  });

/** A TCP port that something listens at. */
export const port = integer(1, 65_535);

export const matching = (what: string, pattern: RegExp): Shape =>
  shapeOf(what, (value) => typeof value === 'string' && pattern.test(value));

export const text = (maxCharacters = TEXT_MAX): Shape =>
  shapeOf(`text of at most ${maxCharacters} characters`, (value) => {
    return typeof value === 'string' && value.length <= maxCharacters;
  });

const encoder = new TextEncoder();
const byteLength = (value: string): number => encoder.encode(value).byteLength;

/** A text whose UTF-8 has at most so many bytes. */
export const bytes = (maxBytes: number): Shape =>
  shapeOf(`text of at most ${maxBytes} bytes`, (value) => {
    return typeof value === 'string' && value.length <= maxBytes && byteLength(value) <= maxBytes;
  });

/** A text that spells a JSON value. */
export const json =
  (maxBytes: number): Shape =>
  (value, path) => {
    const fault = bytes(maxBytes)(value, path);
    if (fault !== null) return fault;
    return readJson(value as string).kind === 'value' ? null : `${path} is no JSON text`;
  };

export const oneOf = (words: readonly string[]): Shape =>
  shapeOf(`word of ${words.join(', ')}`, (value) => typeof value === 'string' && words.includes(value));

export const orNull =
  (shape: Shape): Shape =>
  (value, path) =>
    value === null ? null : shape(value, path);

/** A member that older, or other, writers leave out. */
export const optional =
  (shape: Shape): Shape =>
  (value, path) =>
    value === undefined ? null : shape(value, path);

export const listOf =
  (shape: Shape, max: number, min = 0): Shape =>
  (value, path) => {
    if (!Array.isArray(value)) return `${path} is no list`;
    if (value.length < min) return `${path} has fewer than ${min} items`;
    if (value.length > max) return `${path} has more than ${max} items`;
    for (const [index, item] of value.entries()) {
      const fault = shape(item, `${path}[${index}]`);
      if (fault !== null) return fault;
    }
    return null;
  };

/** Any names, each with a value of the shape. A fault names the place and not the name, which may be anything. */
export const mapOf =
  (shape: Shape, max: number): Shape =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${path} is no object`;
    const values = Object.values(value);
    if (values.length > max) return `${path} has more than ${max} members`;
    for (const item of values) {
      const fault = shape(item, `${path}.*`);
      if (fault !== null) return fault;
    }
    return null;
  };

/** Every member that the type has stands here, so one that is added to it cannot be forgotten. */
export type Members<Value extends object> = Readonly<Record<keyof Value & string, Shape>>;

export const objectOf =
  <Value extends object>(members: Members<Value>): Shape =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${path} is no object`;
    for (const [name, shape] of Object.entries<Shape>(members)) {
      const fault = shape((value as Readonly<Record<string, unknown>>)[name], `${path}.${name}`);
      if (fault !== null) return fault;
    }
    return null;
  };

/** One of several shapes, told apart by their `kind`. */
export const variantOf =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, path) => {
    const fault = objectOf<{ kind: string }>({ kind: oneOf(Object.keys(shapes)) })(value, path);
    return fault ?? (shapes[(value as { readonly kind: string }).kind] as Shape)(value, path);
  };

export function readShape<Value>(shape: Shape, value: unknown): Reading<Value> {
  const fault = shape(value, '$');
  return fault === null ? readAs(value as Value) : unreadable(fault);
}

/** The object with the members that are named, and no others. */
export function readMembers<Value extends object>(members: Members<Value>, value: unknown): Reading<Value> {
  const fault = objectOf(members)(value, '$');
  if (fault !== null) return unreadable(fault);
  return readAs(withMembers(members, value as Value));
}

/** The named members of an object that has its shape. */
export function withMembers<Value extends object>(members: Members<Value>, value: Value): Value {
  const given = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, given[name]])) as Value;
}
