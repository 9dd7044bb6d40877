/**
 * A word that may stand between two dots of a subject. Ids come from callers, and one with a dot, a star or a space
 * would address something else than it says.
 */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

export const isSubjectToken = (text: string): boolean => TOKEN.test(text);

/** @throws RangeError when `text` cannot be one token of a subject */
export function subjectToken(text: string): string {
  if (!TOKEN.test(text)) throw new RangeError(`not a subject token: ${JSON.stringify(text.slice(0, 200))}`);
  return text;
}
