import type { RawJson } from './raw-json.js';

const SPACE = /[\u0020\t\n\r]*/y;
const SCALAR = /[^\u0020\t\n\r,\]}]+/y;
const STRING_END = /["\\]/g;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export interface MemberSelection {
  /** Others are passed over. */
  readonly wanted?: ReadonlySet<string>;
  /** How many to find at most; the rest of the text is not looked at. */
  readonly max?: number;
}

/**
 * The members of the object in `text`, each value as its own untouched JSON text. Where a name repeats, the last one
 * counts, as with `JSON.parse`.
 *
 * @param text JSON text that is known to be valid and that holds an object; other text gives a meaningless result, or
 * throws a SyntaxError, after one walk over it.
 */
export function sliceMembers(
  text: string,
  { wanted, max = Infinity }: MemberSelection = {},
): ReadonlyMap<string, RawJson> {
  const members = new Map<string, RawJson>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text[at] !== '}' && members.size < max) {
    const nameEnd = endOfString(text, at);
    const name = nameOf(text.slice(at, nameEnd));
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    if (wanted?.has(name) !== false) members.set(name, text.slice(valueStart, valueEnd) as RawJson);
    at = skipSpace(text, valueEnd);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

/**
 * The items of the array in `text`, each as its own untouched JSON text.
 *
 * @param text JSON text that is known to be valid and that holds an array; other text gives a meaningless result.
 * @param max how many to find at most; the rest of the text is not looked at
 */
export function sliceItems(text: string, max = Infinity): readonly RawJson[] {
  const items: RawJson[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text[at] !== ']' && items.length < max) {
    const end = endOfValue(text, at);
    items.push(text.slice(at, end) as RawJson);
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return items;
}

const nameOf = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);

function skipSpace(text: string, at: number): number {
  // Beyond the end the search would begin at the start again.
  if (at >= text.length) return text.length;
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
  // Where there is none the text is not valid; it is still walked to its end, and once.
  return SCALAR.test(text) ? SCALAR.lastIndex : at + 1;
}

/** Character by character: a search for each bracket costs many times as much where there are millions. */
function endOfNested(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    at = code === QUOTE ? endOfString(text, at) : at + 1;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}
