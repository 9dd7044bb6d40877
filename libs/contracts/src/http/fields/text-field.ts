import { IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { field, type FieldOptions } from './field-options.js';
import { SatisfiesRule } from './satisfies-rule.js';

export interface TextFieldOptions extends FieldOptions {
  readonly minLength?: number;
  readonly maxLength: number;
  readonly pattern?: RegExp;
  /** Says what the pattern wants: `must be …`. */
  readonly patternReason?: string;
  /** `date-time` and the like; documentation only. */
  readonly format?: string;
  /** Any further rule; its answer is the reason, or null. */
  readonly rule?: (text: string) => string | null;
}

export const TextField = (options: TextFieldOptions): PropertyDecorator => {
  const { minLength = 0, maxLength, pattern, patternReason = 'has the wrong form', format, rule } = options;
  const schema = {
    type: 'string' as const,
    ...(minLength > 0 ? { minLength } : {}),
    maxLength,
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
    ...(format === undefined ? {} : { format }),
  };
  return field(
    options,
    schema,
    IsString({ message: 'must be a string' }),
    MinLength(minLength),
    MaxLength(maxLength),
    ...(pattern === undefined ? [] : [Matches(pattern, { message: patternReason })]),
    ...(rule === undefined ? [] : [SatisfiesRule('rule', (value) => rule(value as string))]),
  );
};

const NAME_MAX = 255;
const CONTROL = /\p{Cc}/u;

/** A name that people read: 1 to 255 characters, not blank, without control characters. */
export const NameField = (options: FieldOptions): PropertyDecorator =>
  TextField({
    ...options,
    minLength: 1,
    maxLength: NAME_MAX,
    rule: (name) => {
      if (name.trim() === '') return 'must not be blank';
      return CONTROL.test(name) ? 'must not contain control characters' : null;
    },
  });

export const ChoiceField = (choices: readonly string[], options: FieldOptions): PropertyDecorator =>
  field(
    options,
    { type: 'string', enum: [...choices] },
    SatisfiesRule('isChoice', (value) =>
      choices.some((choice) => choice === value) ? null : `must be one of ${choices.join(', ')}`,
    ),
  );
