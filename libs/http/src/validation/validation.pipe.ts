import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { PlatformError } from '@berth/domain';
import { isPlainObject, readDto } from '@berth/contracts/http';
import { readBodyJson } from './read-body-json.js';

/**
 * Bodies and queries that a handler declares as a DTO class of fields. Order of the checks for a body: malformed JSON, empty or
 * not an object 400; then its schema, every failure in one answer, 422. A query that fails is 400.
 */
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type === 'param') return checkedParameter(value);
    if (metatype === undefined || !isDtoClass(metatype)) return value;
    if (type === 'body') return validate(metatype, parseObject(value), 'invalid-fields');
    if (type === 'query') return validate(metatype, value, 'invalid-query');
    return value;
  }
}

/**
 * No id has a NUL character, and a database must not be asked for one.
 *
 * @param value one parameter of a path, or all of them by their names
 */
export function checkedParameter<Value>(value: Value): Value {
  const texts: readonly unknown[] = isPlainObject(value) ? Object.values(value) : [value];
  if (!texts.some((text) => typeof text === 'string' && text.includes('\0'))) return value;
  throw new PlatformError('route-not-found', 'There is nothing at this path.');
}

/** Primitives and plain objects have nothing declared that could be checked. */
const PLAIN: ReadonlySet<unknown> = new Set([String, Number, Boolean, Array, Object, Buffer]);

const isDtoClass = (metatype: Type): boolean => !PLAIN.has(metatype);

/** @param text the body as it came. @throws PlatformError `body-not-json` */
function parseObject(text: unknown): Readonly<Record<string, unknown>> {
  if (typeof text !== 'string' || text === '')
    throw new PlatformError('body-not-json', 'A JSON object is expected as body, and there is none.');
  const value = readBodyJson(text);
  if (!isPlainObject(value)) throw new PlatformError('body-not-json', 'The body is JSON, but not an object.');
  return value;
}

function validate(metatype: Type, value: unknown, code: 'invalid-fields' | 'invalid-query'): object {
  const { dto, errors } = readDto(metatype, value);
  if (errors.length === 0) return dto;
  const count = errors.length === 1 ? 'One field' : `${errors.length} fields`;
  throw new PlatformError(code, `${count} failed validation: ${errors[0] ?? ''}${errors.length > 1 ? ' …' : ''}`, {
    errors,
  });
}
