declare const rawJson: unique symbol;

/**
 * Text known to be one valid JSON value. Inputs and outputs travel as the text that came, so numbers, key order and
 * unicode are never rewritten (API decisions 2.11).
 */
export type RawJson = string & { readonly [rawJson]: true };

/** @throws SyntaxError when `text` is not exactly one JSON value. */
export function toRawJson(text: string): RawJson {
  JSON.parse(text);
  return text as RawJson;
}

/** The JSON text of a value made here. `undefined`, functions and symbols have none and become `null`. */
export const encodeJson = (value: unknown): RawJson => (JSON.stringify(value) ?? 'null') as RawJson;
