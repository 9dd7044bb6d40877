import type { Schema, Schemas } from '@berth/contracts/http';
import { resolveSchema } from '@berth/http';
import { EITHER_OR, EXCLUDES, OF_SOME_KINDS, REQUIRED_UNLESS, otherField } from './field-rules.js';

/** `minimal`: only what has to be there; where nothing has to, the first member. */
export type ExampleKind = 'minimal' | 'full';

/**
 * A value that the schema describes, made of the examples of its members.
 *
 * @returns undefined where a member has no example
 */
export function exampleOf(given: Schema, schemas: Schemas, kind: ExampleKind): unknown {
  const schema = plain(given, schemas);
  const [example] = schema.examples ?? [];
  if (example !== undefined) return example;
  if (schema.properties !== undefined) return objectOf(schema, schemas, kind);
  if (schema.items !== undefined) return [exampleOf(schema.items, schemas, kind)];
  return schema.default ?? schema.enum?.[0];
}

/** The schema itself where it only stands behind a reference, or beside null. */
function plain(schema: Schema, schemas: Schemas): Schema {
  const [inner] = schema.allOf ?? schema.oneOf ?? schema.anyOf ?? [];
  if (schema.examples !== undefined) return schema;
  if (inner !== undefined) return plain(inner, schemas);
  return schema.$ref === undefined ? schema : plain(resolveSchema(schema, schemas), schemas);
}

function objectOf(schema: Schema, schemas: Schemas, kind: ExampleKind): object {
  const { properties = {} } = schema;
  const wanted = kind === 'full' ? together(properties) : needed(schema);
  return Object.fromEntries(wanted.map((name) => [name, exampleOf(properties[name] ?? {}, schemas, kind)]));
}

/** All that may be there at once, whatever its kind: of two that exclude each other, the one that says so. */
function together(properties: Schemas): readonly string[] {
  const excluded = Object.values(properties).flatMap((property) => [
    otherField(property, EITHER_OR),
    otherField(property, EXCLUDES),
  ]);
  return Object.keys(properties).filter(
    (name) => !excluded.includes(name) && properties[name]?.[OF_SOME_KINDS] === undefined,
  );
}

function needed({ properties = {}, required = [] }: Schema): readonly string[] {
  const names = Object.keys(properties);
  const isNeeded = (name: string): boolean =>
    required.includes(name) ||
    [EITHER_OR, REQUIRED_UNLESS].some((rule) => otherField(properties[name], rule) !== undefined);
  const wanted = names.filter(isNeeded);
  return wanted.length > 0 ? wanted : names.slice(0, 1);
}
