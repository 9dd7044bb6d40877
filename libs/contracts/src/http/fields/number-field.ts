import { IsInt, IsNumber, Max, Min } from 'class-validator';
import type { FieldShape } from '../reading/dto-shape.js';
import { field, type FieldOptions } from './field-options.js';
import { SatisfiesRule } from './satisfies-rule.js';

/** The largest whole number where no other bound is given (API decisions 1.4). */
export const INTEGER_MAX = 2_147_483_647;

export interface NumberFieldOptions extends FieldOptions, Pick<FieldShape, 'read'> {
  readonly minimum: number;
  readonly maximum?: number;
  /** Said of whatever is not an integer within the bounds, in place of the one thing that it misses: `must be …`. */
  readonly reason?: string;
  readonly rule?: (value: number) => string | null;
}

export const IntegerField = (options: NumberFieldOptions): PropertyDecorator => {
  const { minimum, maximum = INTEGER_MAX, reason, rule } = options;
  const said = reason === undefined ? {} : { message: reason };
  return field(
    options,
    { type: 'integer', ...(maximum > INTEGER_MAX ? { format: 'int64' } : {}), minimum, maximum },
    IsInt({ message: 'must be an integer', ...said }),
    Min(minimum, said),
    Max(maximum, said),
    ...(rule === undefined ? [] : [SatisfiesRule('rule', (value) => rule(value as number))]),
  );
};

export const NumberField = (options: NumberFieldOptions): PropertyDecorator => {
  const { minimum, maximum = INTEGER_MAX } = options;
  return field(
    options,
    { type: 'number', format: 'float', minimum, maximum },
    IsNumber({}, { message: 'must be a number' }),
    Min(minimum),
    Max(maximum),
  );
};
