import { utf8Bytes } from '../text/index.js';
import { INSTANT_MAX_MS } from '../units/index.js';
import { readAs, unreadable, type Reading } from './reading.js';

/**
 * Says what keeps a value from having a shape, beginning with its path; null where nothing does. Members that the shape
 * does not name are let pass: a later version may have added them. Never throws.
 */
export type Shape = (value: unknown, path: string) => string | null;

const ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Longest text that is let pass where no other bound is named. */
const TEXT_MAX = 4_096;

/** @param what the value must be, with its article: it goes on after `must be` */
export const shapeOf =
  (what: string, holds: (value: unknown) => boolean): Shape =>
  (value, path) =>
    holds(value) ? null : `${path} must be ${what}`;

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A word that may stand in a subject or a key. */
export const id: Shape = shapeOf('an id', (value) => typeof value === 'string' && ID.test(value));
export const flag: Shape = shapeOf('true or false', (value) => typeof value === 'boolean');
/** A whole number from 0 on. */
export const count: Shape = shapeOf(
  'a whole number from 0 on',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);
/** Unix milliseconds; fractions are let pass, since clocks are divided now and then. */
export const instant: Shape = shapeOf(
  'an instant in Unix milliseconds',
  (value) => typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= INSTANT_MAX_MS,
);

/** A number from 0 on, whole or not. */
export const amount = (max = Number.POSITIVE_INFINITY): Shape =>
  shapeOf(
    max === Number.POSITIVE_INFINITY ? 'a number from 0 on' : `a number from 0 to ${max}`,
    (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= max,
  );

/** Largest that a database keeps in an `integer`. */
const INTEGER_MAX = 2 ** 31 - 1;

export const integer = (min: number, max = INTEGER_MAX): Shape =>
  shapeOf(`an integer from ${min} to ${max}`, (value) => {
    return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  });

/** A TCP port that something listens at. */
export const port = integer(1, 65_535);

/** @param what as for `shapeOf` */
export const matching = (what: string, pattern: RegExp): Shape =>
  shapeOf(what, (value) => typeof value === 'string' && pattern.test(value));

export const text = (maxCharacters = TEXT_MAX): Shape =>
  shapeOf(`a text of at most ${maxCharacters} characters`, (value) => {
    return typeof value === 'string' && value.length <= maxCharacters;
  });

/** A text whose UTF-8 has at most so many bytes. */
export const bytes = (maxBytes: number): Shape =>
  shapeOf(`a text of at most ${maxBytes} bytes`, (value) => {
    return typeof value === 'string' && value.length <= maxBytes && utf8Bytes(value) <= maxBytes;
  });

/** A text that spells a JSON value. */
export const json =
  (maxBytes: number): Shape =>
  (value, path) => {
    const fault = bytes(maxBytes)(value, path);
    if (fault !== null) return fault;
    return isJsonText(value as string) ? null : `${path} must be a text of JSON`;
  };

function isJsonText(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

export const oneOf = (words: readonly string[]): Shape =>
  shapeOf(`one of ${words.join(', ')}`, (value) => typeof value === 'string' && words.includes(value));

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
    if (!Array.isArray(value)) return `${path} must be a list`;
    if (value.length < min) return `${path} must have at least ${min} items`;
    if (value.length > max) return `${path} must have at most ${max} items`;
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
    if (!isObject(value)) return `${path} must be an object`;
    const values = Object.values(value);
    if (values.length > max) return `${path} must have at most ${max} members`;
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
    if (!isObject(value)) return `${path} must be an object`;
    for (const [name, shape] of Object.entries<Shape>(members)) {
      const fault = shape(value[name], `${path}.${name}`);
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
  const given = value as JsonObject;
  const names = Object.keys(members).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, given[name]])) as Value;
}
