import { BooleanField } from './boolean-field.js';
import { field, type FieldOptions } from './field-options.js';
import { lengthProblem } from './list-field.js';
import { IntegerField, type NumberFieldOptions } from './number-field.js';
import { SatisfiesRule } from './satisfies-rule.js';

export interface QueryIntegerFieldOptions extends NumberFieldOptions {
  /** How many the text may have, leading zeros among them. */
  readonly digitsMax?: number;
}

const DIGITS_MAX = 15;
const DECIMAL = /^-?\d+$/;

/** A whole number in a query, where every value arrives as text. */
export const QueryIntegerField = ({
  digitsMax = DIGITS_MAX,
  ...options
}: QueryIntegerFieldOptions): PropertyDecorator =>
  IntegerField({ ...options, read: (value) => numberOfText(value, digitsMax) });

/** Text that is no decimal number stays text, which no integer is. */
const numberOfText = (value: unknown, digitsMax: number): unknown =>
  typeof value === 'string' && DECIMAL.test(value) && value.replace('-', '').length <= digitsMax
    ? Number(value)
    : value;

/** `true` or `false` in a query. */
export const QueryBooleanField = (options: FieldOptions): PropertyDecorator =>
  BooleanField({ ...options, read: booleanOfText });

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

const booleanOfText = (value: unknown): unknown => BOOLEANS.get(value) ?? value;

/** The rule for each item: one of some words, or of a form. */
export type QueryListFieldOptions = FieldOptions &
  (
    | { readonly choices: readonly string[]; readonly pattern?: never; readonly patternReason?: never }
    | { readonly choices?: never; readonly pattern: RegExp; readonly patternReason: string }
  );

const ITEMS_MAX = 64;

/** Several values of one parameter, separated by commas; the parameter may also be repeated. */
export const QueryListField = (options: QueryListFieldOptions): PropertyDecorator =>
  field(
    { ...options, read: itemsOfText },
    {
      type: 'array',
      items: {
        type: 'string',
        ...(options.choices === undefined ? { pattern: options.pattern.source } : { enum: [...options.choices] }),
      },
      maxItems: ITEMS_MAX,
      ...COMMA_SEPARATED,
    },
    SatisfiesRule('items', (value) => listProblem(value as readonly unknown[], options)),
  );

/** How the document says it; the option is one of parameters, which the type of properties does not know. */
const COMMA_SEPARATED = { explode: false };

const itemsOfText = (value: unknown): readonly unknown[] =>
  [value].flat().flatMap((each: unknown) => (typeof each === 'string' ? each.split(',') : [each]));

function listProblem(items: readonly unknown[], options: QueryListFieldOptions): string | null {
  const problem = lengthProblem(items, { maxItems: ITEMS_MAX });
  if (problem !== null) return problem;
  const stray = items.findIndex((item) => !isGoodItem(item, options));
  if (stray < 0) return null;
  const reason = options.choices === undefined ? options.patternReason : `must be one of ${options.choices.join(', ')}`;
  return `item ${stray} ${reason}`;
}

const isGoodItem = (item: unknown, { choices, pattern }: QueryListFieldOptions): boolean =>
  choices === undefined ? typeof item === 'string' && pattern.test(item) : choices.some((choice) => choice === item);
