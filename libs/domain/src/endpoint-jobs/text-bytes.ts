import { utf8Bytes } from '../text/index.js';

/** Characters that a line cannot hold, or would hold at six times their size. Tabs and ends of lines stay. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const UNKEEPABLE = /[\u0000-\u0008\u000b-\u001f\u007f]|\p{Surrogate}/gu;

const cleaned = (text: string): string => text.replace(UNKEEPABLE, '\uFFFD');

const CUT = '…';

/** The text as a fact may hold it: without control characters, and at most so many bytes; what was cut is marked. */
export function boundedText(text: string, maxBytes: number): string {
  // No text that is too long is looked at whole.
  const clean = cleaned(text.slice(0, maxBytes + 1));
  if (text.length <= maxBytes && utf8Bytes(clean) <= maxBytes) return clean;
  return `${fitting(clean, maxBytes - utf8Bytes(CUT)).join('')}${CUT}`;
}

/** As `boundedText`, with both ends kept: of a traceback one has the call, and the other the cause. */
export function boundedEnds(text: string, maxBytes: number): string {
  const whole = text.length <= maxBytes ? cleaned(text) : null;
  if (whole !== null && utf8Bytes(whole) <= maxBytes) return whole;
  const halfBytes = Math.floor((maxBytes - utf8Bytes(CUT)) / 2);
  const first = fitting(cleaned(text.slice(0, maxBytes)), halfBytes);
  const last = fitting([...cleaned(text.slice(-maxBytes))].reverse(), halfBytes).reverse();
  return `${first.join('')}${CUT}${last.join('')}`;
}

/** The first characters that have room. */
function fitting(characters: Iterable<string>, maxBytes: number): string[] {
  const kept: string[] = [];
  let left = maxBytes;
  for (const character of characters) {
    left -= utf8Bytes(character);
    if (left < 0) break;
    kept.push(character);
  }
  return kept;
}
