export type SplitArgs =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'malformed'; readonly detail: string };

/**
 * Splits `args` into words like a POSIX shell: words end at blanks, `'…'` keeps everything, `"…"` keeps everything but
 * `\` before `"`, `\`, `$`, a backtick or a line end, and `\` keeps the next character. Nothing is expanded, and
 * operators such as `;` or `|` are ordinary characters. A carriage return is a blank, so that text from any editor works.
 */
export function splitArgs(text: string): SplitArgs {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < text.length) {
    const piece = readPiece(text, at);
    if (piece.kind === 'malformed') return piece;
    at = piece.end;
    if (piece.kind === 'blank') {
      if (word !== null) words.push(word);
      word = null;
    } else if (piece.text !== null) {
      word = (word ?? '') + piece.text;
    }
  }
  if (word !== null) words.push(word);
  return { kind: 'words', words };
}

type Piece =
  | { readonly kind: 'blank'; readonly end: number }
  /** Part of a word; null where there is nothing, not even an empty word: a line end after `\`. */
  | { readonly kind: 'text'; readonly end: number; readonly text: string | null }
  | { readonly kind: 'malformed'; readonly detail: string };

const BLANK = /[ \t\r\n]+/y;
const PLAIN = /[^ \t\r\n'"\\]+/y;
const QUOTE_OR_BACKSLASH = /["\\]/g;
const ESCAPED_IN_DOUBLE = /\\(?:\n|(["\\$`]))/g;

function readPiece(text: string, at: number): Piece {
  const first = text[at];
  if (first === "'") return readSingleQuoted(text, at);
  if (first === '"') return readDoubleQuoted(text, at);
  if (first === '\\') return readEscape(text, at);
  const blankEnd = matchEnd(BLANK, text, at);
  if (blankEnd > at) return { kind: 'blank', end: blankEnd };
  const end = matchEnd(PLAIN, text, at);
  return { kind: 'text', end, text: text.slice(at, end) };
}

function readSingleQuoted(text: string, at: number): Piece {
  const close = text.indexOf("'", at + 1);
  if (close < 0) return unbalanced("'", at);
  return { kind: 'text', end: close + 1, text: text.slice(at + 1, close) };
}

function readDoubleQuoted(text: string, at: number): Piece {
  const close = closingQuote(text, at);
  if (close < 0) return unbalanced('"', at);
  const inner = text.slice(at + 1, close).replace(ESCAPED_IN_DOUBLE, (_, kept: string | undefined) => kept ?? '');
  return { kind: 'text', end: close + 1, text: inner };
}

/** A search, not one pattern over the whole string: a quote that is never closed must not cost more than one pass. */
function closingQuote(text: string, open: number): number {
  QUOTE_OR_BACKSLASH.lastIndex = open + 1;
  for (let hit = QUOTE_OR_BACKSLASH.exec(text); hit !== null; hit = QUOTE_OR_BACKSLASH.exec(text)) {
    if (hit[0] === '"') return hit.index;
    QUOTE_OR_BACKSLASH.lastIndex = hit.index + 2;
  }
  return -1;
}

function readEscape(text: string, at: number): Piece {
  const next = text[at + 1];
  if (next === undefined) return { kind: 'malformed', detail: `nothing follows the backslash at character ${at + 1}` };
  return { kind: 'text', end: at + 2, text: next === '\n' ? null : next };
}

const unbalanced = (quote: string, at: number): Piece => ({
  kind: 'malformed',
  detail: `the quote ${quote} at character ${at + 1} is never closed`,
});

/** Where the match that starts at `at` ends; `at` itself when there is none. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
