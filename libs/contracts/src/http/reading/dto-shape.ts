import type { Type as ClassType } from '@nestjs/common';

/** How the value of one field becomes what a handler sees. */
export interface FieldShape {
  /** Applied to the value as it came. */
  readonly read?: (value: unknown) => unknown;
  /** The class of an object, or of each object in a list; chosen by the value where it is a union. */
  readonly nested?: (value: Readonly<Record<string, unknown>>) => NestedShape;
}

export interface NestedShape {
  readonly dto: ClassType;
  /** True where it is not known which fields there may be. */
  readonly isOpen?: boolean;
}

const shapes = new WeakMap<object, Map<string, FieldShape>>();

/** @param prototype of the DTO class */
export function declareField(prototype: object, name: string, shape: FieldShape): void {
  const own = shapes.get(prototype) ?? new Map<string, FieldShape>();
  own.set(name, shape);
  shapes.set(prototype, own);
}

export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An instance of the class with the fields that it declares; every other one is named in `unknown` and left out. Written
 * here rather than taken from a transformer because those read `constructor` of the values, which a caller may send.
 */
export function instantiate(
  { dto, isOpen = false }: NestedShape,
  value: Readonly<Record<string, unknown>>,
  report: { readonly path: string; readonly unknown: string[] },
): object {
  const instance = new dto() as Record<string, unknown>;
  const declared = shapes.get(dto.prototype as object) ?? new Map<string, FieldShape>();
  for (const [name, member] of Object.entries(value)) {
    const shape = declared.get(name);
    if (shape !== undefined) {
      instance[name] = readField(shape, member, { ...report, path: `${report.path}.${name}` });
    } else if (!isOpen) {
      report.unknown.push(`${report.path}: additional properties '${name}' not allowed`);
    }
  }
  return instance;
}

function readField(
  { nested, read = (value) => value }: FieldShape,
  member: unknown,
  report: { readonly path: string; readonly unknown: string[] },
): unknown {
  if (nested === undefined) return read(member);
  if (isPlainObject(member)) return instantiate(nested(member), member, report);
  if (!Array.isArray(member)) return member;
  return member.map((item: unknown, index) =>
    isPlainObject(item) ? instantiate(nested(item), item, { ...report, path: `${report.path}[${index}]` }) : item,
  );
}
