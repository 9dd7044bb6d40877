/** Colours and cursor movements: ESC, `[`, parameters and a final letter. */
const TERMINAL_CODE = new RegExp(String.raw`${String.fromCharCode(27)}\[[0-?]*[ -/]*[@-~]`, 'g');
/** PostgreSQL stores no U+0000; the others would break a log line, a terminal or a page. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** They make what follows read backwards, so that a text shows another one than it is. */
const DIRECTION = /\p{Bidi_Control}+/gu;
const CUT_MARK = '…';

/**
 * Text that a stranger wrote, as one line that may be stored and shown anywhere: without control characters, terminal
 * codes and changes of direction, well-formed, and at most `charactersMax` long. The place of a cut is marked.
 *
 * @param charactersMax UTF-16 code units, at least 1
 */
export function cleanText(text: string, charactersMax: number): string {
  const plain = text.replace(TERMINAL_CODE, '').replace(CONTROL, ' ').replace(DIRECTION, '').trim().toWellFormed();
  if (plain.length <= charactersMax) return plain;
  return `${withoutHalf(plain.slice(0, charactersMax - CUT_MARK.length))}${CUT_MARK}`;
}

/** Where a printed line has these, a terminal shows nothing, or begins again. */
const CONTROL_EXCEPT_TAB = /[^\P{Cc}\t]|[\p{Zl}\p{Zp}]/gu;

/**
 * A line that a program printed, as it may be stored and shown anywhere: as `cleanText`, but indented as it was.
 *
 * @param charactersMax UTF-16 code units, at least 1
 */
export function cleanPrinted(text: string, charactersMax: number): string {
  const shown = text.replace(TERMINAL_CODE, '').replace(CONTROL_EXCEPT_TAB, ' ').replace(DIRECTION, '');
  const plain = shown.trimEnd().toWellFormed();
  if (plain.length <= charactersMax) return plain;
  return `${withoutHalf(plain.slice(0, charactersMax - CUT_MARK.length))}${CUT_MARK}`;
}

/** A cut may fall into a surrogate pair. */
const withoutHalf = (text: string): string => (text.isWellFormed() ? text : text.slice(0, -1));
