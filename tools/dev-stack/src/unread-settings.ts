import { SETTINGS, SETTINGS_OF_LATER } from '../settings.mjs';

const PREFIX = 'BERTH_';
/** Sentences at most; the rest is counted. */
const SENTENCES_MAX = 20;
const CHANGES_MAX = 2;
/** Longer names are nobody's typing error. */
const NAME_MAX_CHARACTERS = 64;

/** One sentence for each of our variables that `npm start` does not read, in the order given. */
export function unreadSettings(names: readonly string[]): readonly string[] {
  const known = SETTINGS.map(({ variable }) => variable);
  const unread = names.filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  const sentences = unread.slice(0, SENTENCES_MAX).map((name) => sentenceOn(name, known));
  const rest = unread.length - sentences.length;
  return rest === 0 ? sentences : [...sentences, `and ${rest} more variables that npm start does not read`];
}

function sentenceOn(name: string, known: readonly string[]): string {
  if (SETTINGS_OF_LATER.includes(name)) return `${name} is not supported yet and has no effect`;
  const nearest = nearestName(name, known);
  const hint = nearest === null ? '' : `: did you mean ${nearest}?`;
  return `${name} is set, but npm start does not read it${hint}`;
}

/** The name that a slip of the finger or two makes of `word`; null when none is that close. */
export function nearestName(word: string, names: readonly string[]): string | null {
  if (word.length > NAME_MAX_CHARACTERS) return null;
  const ranked = names.map((name) => ({ name, changes: changesBetween(word, name) }));
  ranked.sort((one, other) => one.changes - other.changes);
  const [best] = ranked;
  return best !== undefined && best.changes <= CHANGES_MAX ? best.name : null;
}

/** Letters to put in, take out or replace (Levenshtein). */
function changesBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1];
    for (const [column, wanted] of [...other].entries()) {
      const replaced = (above[column] ?? 0) + (letter === wanted ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
