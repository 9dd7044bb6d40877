import type { Schema } from '@berth/contracts/http';
import { resolveSchema, type ApiDocument, type Operation } from '@berth/http';

/** A field of a body, wherever in it. */
export interface BodyField {
  /** `name`, `workers.min`, `networkVolumes[]`, `cpu[].id`. */
  readonly path: string;
  readonly isText: boolean;
}

/** Every field that the document knows of in the body of an operation. */
export function bodyFields(document: ApiDocument, operation: Operation | undefined): readonly BodyField[] {
  const schema = operation?.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return [];
  const fields = walk(schema, '', document).filter(({ path }) => path !== '');
  return [...new Map(fields.map((field) => [field.path, field])).values()];
}

function walk(given: Schema, path: string, document: ApiDocument): readonly BodyField[] {
  const schema = resolveSchema(given, document.components.schemas);
  const variants = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((each) => each ?? []);
  return [
    { path, isText: [schema.type].flat().includes('string') },
    ...variants.flatMap((variant) => walk(variant, path, document)),
    ...(schema.items === undefined ? [] : walk(schema.items, `${path}[]`, document)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      walk(property, path === '' ? name : `${path}.${name}`, document),
    ),
  ];
}

/** The body with a value at the path. */
export function withField(body: object, path: string, value: unknown): object {
  const [member = '', ...rest] = path.split('.');
  const isList = member.endsWith('[]');
  const name = member.replace('[]', '');
  const present = (body as Record<string, unknown>)[name];
  const inside: unknown = isList ? (Array.isArray(present) ? present[0] : undefined) : present;
  const changed = rest.length === 0 ? value : withField(isObject(inside) ? inside : {}, rest.join('.'), value);
  return { ...body, [name]: isList ? [changed] : changed };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
