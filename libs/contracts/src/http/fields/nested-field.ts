import type { Type as ClassType } from '@nestjs/common';
import { ValidateNested } from 'class-validator';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { isPlainObject, type NestedShape } from '../reading/dto-shape.js';
import { field, type FieldOptions } from './field-options.js';
import { lengthProblem } from './list-field.js';
import { SatisfiesRule } from './satisfies-rule.js';

/** An object with fields of its own. */
export const NestedField = (dto: ClassType, options: FieldOptions): PropertyDecorator =>
  field(
    { ...options, nested: () => ({ dto }) },
    { type: dto },
    SatisfiesRule('isObject', (value) => (isPlainObject(value) ? null : 'must be an object')),
    ValidateNested(),
  );

export interface NestedListFieldOptions extends FieldOptions {
  readonly minItems?: number;
  readonly maxItems: number;
  /** Items with equal fields are refused. */
  readonly isUnique?: boolean;
}

/** A list of objects of one class. */
export const NestedListField = (dto: ClassType, options: NestedListFieldOptions): PropertyDecorator => {
  const { minItems = 0, maxItems, isUnique = false } = options;
  return field(
    { ...options, nested: () => ({ dto }) },
    { type: dto, isArray: true, minItems, maxItems, ...(isUnique ? { uniqueItems: true } : {}) },
    SatisfiesRule('items', (value) => listProblem(value, { minItems, maxItems, isUnique })),
    ValidateNested({ each: true }),
  );
};

export interface Variant {
  /** Value of the field `type` that names the variant. */
  readonly name: string;
  readonly dto: ClassType;
}

/** A union that its field `type` decides. An unknown or missing type is checked by `fallback`, which knows only `type`. */
export const VariantField = (
  { variants, fallback }: { readonly variants: readonly Variant[]; readonly fallback: ClassType },
  schema: ApiPropertyOptions,
  options: FieldOptions,
): PropertyDecorator => {
  const nested = ({ type }: Readonly<Record<string, unknown>>): NestedShape => {
    const variant = variants.find(({ name }) => name === type);
    return variant === undefined ? { dto: fallback, isOpen: true } : { dto: variant.dto };
  };
  return field(
    { ...options, nested },
    schema,
    SatisfiesRule('isObject', (value) => (isPlainObject(value) ? null : 'must be an object')),
    ValidateNested(),
  );
};

function listProblem(
  value: unknown,
  { minItems, maxItems, isUnique }: { minItems: number; maxItems: number; isUnique: boolean },
): string | null {
  if (!Array.isArray(value)) return 'must be an array';
  const problem = lengthProblem(value, { minItems, maxItems });
  if (problem !== null) return problem;
  const stray = value.findIndex((item) => !isPlainObject(item));
  if (stray >= 0) return `item ${stray} must be an object`;
  return isUnique && new Set(value.map(canonical)).size < value.length ? 'must not repeat an item' : null;
}

/** Sorted by name alone: the values are not checked yet, and not every one can be made a text to compare. */
const canonical = (item: object): string =>
  JSON.stringify(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)));
