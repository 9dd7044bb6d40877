import type { FieldShape } from '../reading/dto-shape.js';
import { field, type FieldOptions } from './field-options.js';
import { SatisfiesRule } from './satisfies-rule.js';

export const BooleanField = (options: FieldOptions & Pick<FieldShape, 'read'>): PropertyDecorator =>
  field(
    options,
    { type: 'boolean' },
    SatisfiesRule('isBoolean', (value) => (typeof value === 'boolean' ? null : 'must be true or false')),
  );
