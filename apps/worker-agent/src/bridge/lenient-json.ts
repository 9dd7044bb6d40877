import type { RawJson } from '@berth/domain';

/** Python's encoder writes these, JSON does not know them. */
const NOT_JSON = /-?\bInfinity\b|\bNaN\b/;
const EVERY_NOT_JSON = new RegExp(NOT_JSON, 'g');
const STRING_END = /["\\]/g;

export interface LenientJson {
  readonly text: RawJson;
  readonly value: unknown;
}

/**
 * A worker's JSON text with its value. `NaN` and infinities, which no JSON reader would take, become `null`; all other
 * text stays as it came. Null when it is not JSON even so.
 */
export function parseLenient(text: string): LenientJson | null {
  const strict = parse(text);
  if (strict !== null || !NOT_JSON.test(text)) return strict;
  return parse(withoutNumbersThatAreNone(text));
}

function parse(text: string): LenientJson | null {
  try {
    return { text: text as RawJson, value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

/** Replaces outside of strings only. */
function withoutNumbersThatAreNone(text: string): string {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const plainEnd = quote < 0 ? text.length : quote;
    pieces.push(text.slice(at, plainEnd).replace(EVERY_NOT_JSON, 'null'));
    const stringEnd = quote < 0 ? text.length : endOfString(text, quote);
    pieces.push(text.slice(plainEnd, stringEnd));
    at = stringEnd;
  }
  return pieces.join('');
}

function endOfString(text: string, quote: number): number {
  STRING_END.lastIndex = quote + 1;
  for (let hit = STRING_END.exec(text); hit !== null; hit = STRING_END.exec(text)) {
    if (hit[0] === '"') return hit.index + 1;
    STRING_END.lastIndex = hit.index + 2;
  }
  return text.length;
}
