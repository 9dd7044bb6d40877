import type { RawJson } from './raw-json.js';

const SPACE = /[\u0020\t\n\r]*/y;
const SCALAR = /[^\u0020\t\n\r,\]}]+/y;
const STRING_END = /["\\]/g;
const BRACKET_OR_QUOTE = /["[\]{}]/g;

/**
 * The members of the object in `text`, each value as its own untouched JSON text. Where a name repeats, the last one
 * counts, as with `JSON.parse`.
 *
 * @param text JSON text that `JSON.parse` has accepted and that holds an object; other text gives a meaningless result.
 */
export function sliceMembers(text: string): ReadonlyMap<string, RawJson> {
  const members = new Map<string, RawJson>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== '}') {
    const nameEnd = endOfString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    members.set(name, text.slice(valueStart, valueEnd) as RawJson);
    at = skipSpace(text, valueEnd);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

/**
 * The items of the array in `text`, each as its own untouched JSON text.
 *
 * @param text JSON text that `JSON.parse` has accepted and that holds an array; other text gives a meaningless result.
 */
export function sliceItems(text: string): readonly RawJson[] {
  const items: RawJson[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at);
    items.push(text.slice(at, end) as RawJson);
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return items;
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.test(text);
  return SPACE.lastIndex;
}

function endOfString(text: string, at: number): number {
  STRING_END.lastIndex = at + 1;
  for (let hit = STRING_END.exec(text); hit !== null; hit = STRING_END.exec(text)) {
    if (hit[0] === '"') return hit.index + 1;
    STRING_END.lastIndex = hit.index + 2;
  }
  return text.length;
}

function endOfValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return endOfString(text, at);
  if (first === '{' || first === '[') return endOfNested(text, at);
  SCALAR.lastIndex = at;
  SCALAR.test(text);
  return SCALAR.lastIndex;
}

function endOfNested(text: string, at: number): number {
  let depth = 0;
  let from = at;
  while (from < text.length) {
    BRACKET_OR_QUOTE.lastIndex = from;
    const hit = BRACKET_OR_QUOTE.exec(text);
    if (hit === null) break;
    from = hit[0] === '"' ? endOfString(text, hit.index) : hit.index + 1;
    if (hit[0] === '{' || hit[0] === '[') depth += 1;
    if (hit[0] === '}' || hit[0] === ']') depth -= 1;
    if (depth === 0) return from;
  }
  return text.length;
}
