/** What JSON may hold as it is, and a terminal obeys, or shows as another text. The line ends between members stay. */
const UNPRINTABLE = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const ESCAPE_DIGITS = 4;

/**
 * A value as JSON that may be shown anywhere: what would speak to a terminal is escaped, and nothing is lost by it.
 *
 * @param indent spaces for each level; 0: all is one line
 */
export const printableJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, undefined, indent).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(ESCAPE_DIGITS, '0')}`,
  );
