import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { declareField, type FieldShape } from '../reading/dto-shape.js';
import { SatisfiesRule } from './satisfies-rule.js';

/** The things that every kind of field says about itself. One declaration is both the check and its documentation. */
export interface FieldOptions {
  readonly description: string;
  readonly isOptional?: boolean;
  /** Another field of the same object in whose presence this one may be left out. */
  readonly requiredUnless?: string;
  /** Another field, exactly one of which and this one is there. Documentation only, like the two below. */
  readonly eitherOr?: string;
  /** Another field that is not there together with this one. */
  readonly excludes?: string;
  /** Another field that has to be there together with this one. */
  readonly requires?: string;
  /** Not every kind of the object may have it, so the example of everything is without it. Documentation only. */
  readonly isOfSomeKinds?: boolean;
  /** Null is a value of its own. An optional field that is not nullable refuses null. */
  readonly isNullable?: boolean;
  /** The meaning of an omitted field; documentation only. */
  readonly default?: unknown;
  readonly example?: unknown;
}

/** Checks run in the order given; the first that fails is the field's reason. */
export const field = (
  options: FieldOptions & FieldShape,
  schema: ApiPropertyOptions,
  ...checks: readonly PropertyDecorator[]
): PropertyDecorator =>
  applyDecorators(
    (prototype: object, name: string | symbol) => {
      declareField(prototype, String(name), options);
    },
    ApiProperty({ ...documentationOf(options), ...schema }),
    ValidateIf((object: Readonly<Record<string, unknown>>, value) => !mayBeSkipped(options, object, value)),
    SatisfiesRule('isPresent', (value) => (value === undefined ? 'is required' : null)),
    ...checks,
  );

const documentationOf = (options: FieldOptions): object => ({
  description: options.description,
  required: options.isOptional !== true && options.requiredUnless === undefined,
  ...(options.isNullable === true ? { nullable: true } : {}),
  ...(options.requiredUnless === undefined ? {} : { 'x-required-unless': options.requiredUnless }),
  ...(options.eitherOr === undefined ? {} : { 'x-either-or': options.eitherOr }),
  ...(options.excludes === undefined ? {} : { 'x-excludes': options.excludes }),
  ...(options.requires === undefined ? {} : { 'x-requires': options.requires }),
  ...(options.isOfSomeKinds === true ? { 'x-of-some-kinds': 'true' } : {}),
  ...('default' in options ? { default: options.default } : {}),
  ...('example' in options ? { example: options.example } : {}),
});

function mayBeSkipped(
  { isOptional = false, isNullable = false, requiredUnless }: FieldOptions,
  object: Readonly<Record<string, unknown>>,
  value: unknown,
): boolean {
  if (value === null) return isNullable;
  if (value !== undefined) return false;
  return isOptional || (requiredUnless !== undefined && object[requiredUnless] !== undefined);
}
