/** Words of a catalog are short; what is much longer than any of them is no slip of the fingers. */
const LENGTH_MAX = 128;

/** Of three letters one may be wrong. */
const SLIPS_PER_LETTER = 1 / 3;

/**
 * The known word that somebody may have meant, or null when none is near: letters that are wrong, missing, too many or
 * swapped count one each, upper and lower case are the same. Of equals the first.
 */
export function closestWord(word: string, known: readonly string[]): string | null {
  if (word.length > LENGTH_MAX) return null;
  let best: string | null = null;
  let bestSlips = Math.floor(word.length * SLIPS_PER_LETTER) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestSlips) continue;
    const slips = slipsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (slips < bestSlips) [best, bestSlips] = [candidate, slips];
  }
  return best;
}

/** Optimal string alignment distance, row by row. */
function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const changed = at(last, j - 1) + (isSame ? 0 : 1);
      const swapped = isSwapped ? at(beforeLast, j - 2) + 1 : Infinity;
      row.push(Math.min(changed, at(last, j) + 1, at(row, j - 1) + 1, swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;
