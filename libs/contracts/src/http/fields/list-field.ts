import { IsArray } from 'class-validator';
import { field, type FieldOptions } from './field-options.js';
import { SatisfiesRule } from './satisfies-rule.js';

export interface TextListFieldOptions extends FieldOptions {
  readonly minItems?: number;
  readonly maxItems: number;
  readonly pattern?: RegExp;
  readonly patternReason?: string;
  /** Exact repeats are refused, after trimming where items are trimmed. */
  readonly isUnique?: boolean;
  /** White space around items is dropped before anything else. */
  readonly isTrimmed?: boolean;
  /** Any further rule for an item; its answer is the reason, or null. */
  readonly rule?: (item: string) => string | null;
}

const ITEM_MAX = 1_024;

/** A list of texts. */
export const TextListField = (options: TextListFieldOptions): PropertyDecorator => {
  const { minItems = 0, maxItems, isUnique = false, isTrimmed = false, pattern } = options;
  const schema = {
    type: 'array' as const,
    items: {
      type: 'string',
      minLength: 1,
      maxLength: ITEM_MAX,
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
    },
    ...(minItems > 0 ? { minItems } : {}),
    maxItems,
    ...(isUnique ? { uniqueItems: true } : {}),
  };
  return field(
    { ...options, ...(isTrimmed ? { read: trimmed } : {}) },
    schema,
    IsArray({ message: 'must be an array' }),
    SatisfiesRule('items', (value) => listProblem(value, options)),
  );
};

/** Shared by every kind of list. */
export function lengthProblem(
  list: readonly unknown[],
  { minItems = 0, maxItems }: { readonly minItems?: number; readonly maxItems: number },
): string | null {
  if (list.length < minItems) return `must have at least ${minItems} item${minItems === 1 ? '' : 's'}`;
  return list.length > maxItems ? `must have at most ${maxItems} items` : null;
}

const trimmed = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((item: unknown) => (typeof item === 'string' ? item.trim() : item)) : value;

function listProblem(value: unknown, options: TextListFieldOptions): string | null {
  if (!Array.isArray(value)) return null;
  const { isUnique = false } = options;
  const problem = lengthProblem(value, options);
  if (problem !== null) return problem;
  for (const [index, item] of value.entries()) {
    const reason = itemProblem(item, options);
    if (reason !== null) return `item ${index} ${reason}`;
  }
  return isUnique && new Set(value).size < value.length ? 'must not repeat an item' : null;
}

function itemProblem(item: unknown, options: TextListFieldOptions): string | null {
  const { pattern, patternReason = 'has the wrong form', rule } = options;
  if (typeof item !== 'string') return 'must be a string';
  if (item === '') return 'must not be empty';
  if (item.length > ITEM_MAX) return `must not be longer than ${ITEM_MAX} characters`;
  if (pattern !== undefined && !pattern.test(item)) return patternReason;
  return rule?.(item) ?? null;
}
