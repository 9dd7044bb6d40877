import { isObject, type JsonObject, type Members, type Shape } from '../shape/index.js';
import { closestWord } from '../words/index.js';

/** What the file may say of one table, and how. */
export interface TableRules<Entry extends { readonly id: string }> {
  /** Where the table stands in the file. */
  readonly path: string;
  readonly id: Shape;
  readonly members: Members<Omit<Entry, 'id'>>;
  /** An entry that is not shipped before the file has said anything of it. */
  readonly fresh: (id: string) => Entry;
  /** Members that the file must say of it. */
  readonly needed: readonly (keyof Omit<Entry, 'id'> & string)[];
}

export interface Laid<Entry> {
  /** Shipped ones first, in their order, then the file's own, in that of the file. */
  readonly entries: readonly Entry[];
  readonly problems: readonly string[];
}

/** The key that takes out every shipped entry which the file does not name. */
const ALL_OTHERS = '*';
const ENTRIES_MAX = 500;

/** The shipped table with that of the file over it, entry by entry and member by member. */
export function layOver<Entry extends { readonly id: string }>(
  shipped: readonly Entry[],
  said: unknown,
  rules: TableRules<Entry>,
): Laid<Entry> {
  if (said === undefined) return { entries: shipped, problems: [] };
  if (!isObject(said))
    return { entries: shipped, problems: [`${rules.path} must be an object, with ids as its names`] };
  const names = Object.keys(said);
  if (names.length > ENTRIES_MAX)
    return { entries: shipped, problems: [`${rules.path} has more than ${ENTRIES_MAX} entries`] };
  const known = new Map(shipped.map((entry) => [entry.id, entry]));
  const problems = Object.entries(said).flatMap(([id, entry]) =>
    problemsOf({ id, entry, isShipped: known.has(id) }, rules),
  );
  const keepsOthers = !names.includes(ALL_OTHERS);
  const own = names.filter((id) => id !== ALL_OTHERS && !known.has(id)).map(rules.fresh);
  const entries = [...shipped, ...own].flatMap((entry) => {
    const changes = said[entry.id];
    if (changes === undefined) return keepsOthers ? [entry] : [];
    return changes === null ? [] : [{ ...entry, ...(changes as Partial<Entry>) }];
  });
  return { entries, problems };
}

/** As it is written in the file: `$.gpuTypes["Tesla T4"]`. */
export const pathOf = (table: string, id: string): string => `${table}[${JSON.stringify(id)}]`;

interface Said {
  readonly id: string;
  readonly entry: unknown;
  readonly isShipped: boolean;
}

function problemsOf<Entry extends { readonly id: string }>(
  { entry, id, isShipped }: Said,
  rules: TableRules<Entry>,
): readonly string[] {
  const path = pathOf(rules.path, id);
  if (id === ALL_OTHERS) return entry === null ? [] : [`${path} must be null: it takes out all that is not named`];
  const misnamed = rules.id(id, `${path}: the id`);
  if (misnamed !== null) return [misnamed];
  if (entry === null) return isShipped ? [] : [`${path} is null, but there is no such entry to take out; check the id`];
  if (!isObject(entry)) return [`${path} must be an object, or null to take the entry out`];
  return [...memberProblems(path, entry, rules.members), ...(isShipped ? [] : missing(path, entry, rules.needed))];
}

const memberProblems = (path: string, entry: JsonObject, members: object): readonly string[] =>
  Object.entries(entry).flatMap(([name, value]) => {
    const shape = new Map<string, Shape>(Object.entries(members)).get(name);
    if (shape === undefined) return [unknownName(path, name, Object.keys(members))];
    return shape(value, `${path}.${name}`) ?? [];
  });

const missing = (path: string, entry: JsonObject, needed: readonly string[]): readonly string[] =>
  needed
    .filter((name) => entry[name] === undefined)
    .map((name) => `${path}.${name} is missing: it is not shipped, so say it`);

export function unknownName(path: string, name: string, known: readonly string[]): string {
  const closest = closestWord(name, known);
  return `${path}.${name} is unknown${closest === null ? '' : ` (did you mean ${closest}?)`}; known are ${known.join(', ')}`;
}
