import { field, type FieldOptions } from './field-options.js';
import { SatisfiesRule } from './satisfies-rule.js';

export interface TextMapFieldOptions extends FieldOptions {
  readonly keyPattern: RegExp;
  readonly keysMax: number;
  /** Of all keys and values together, in UTF-8. */
  readonly bytesMax: number;
}

/** An object whose values are texts. */
export const TextMapField = (options: TextMapFieldOptions): PropertyDecorator => {
  // A word of JSON Schema that the type of properties does not know.
  const names = { propertyNames: { pattern: options.keyPattern.source } };
  return field(
    options,
    { type: 'object', ...names, additionalProperties: { type: 'string' }, maxProperties: options.keysMax },
    SatisfiesRule('isTextMap', (value) => mapProblem(value, options)),
  );
};

function mapProblem(value: unknown, { keyPattern, keysMax, bytesMax }: TextMapFieldOptions): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  const entries = Object.entries(value as Record<string, unknown>);
  if (entries.length > keysMax) return `must have at most ${keysMax} keys`;
  for (const [key, text] of entries) {
    if (!keyPattern.test(key)) return `has the key ${JSON.stringify(key)}, which does not match ${keyPattern.source}`;
    if (typeof text !== 'string') return `must have a string under ${key}`;
  }
  const bytes = entries.reduce((sum, [key, text]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(text)), 0);
  return bytes > bytesMax ? `must not be larger than ${bytesMax} bytes in all` : null;
}
