/** What is wrong with a value of the file, as the end of a sentence that its path begins; null where nothing is. */
export type Check = (value: unknown) => string | null;

/** A check for each member that an entry may have. */
export type Checks<Entry> = { readonly [Name in keyof Entry]-?: Check };

const check =
  (must: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? null : must;

export const trueOrFalse: Check = check('must be true or false', (value) => typeof value === 'boolean');

export const amountIn = (unit: string, max: number): Check =>
  check(`must be a number of ${unit}, above 0 and at most ${max}`, (value) => {
    return typeof value === 'number' && value > 0 && value <= max;
  });

/** Sizes of CPU workers are powers of two. */
export const powerOfTwo = (min: number, max: number): Check =>
  check(`must be a power of two from ${min} to ${max}`, (value) => {
    return typeof value === 'number' && value >= min && value <= max && Number.isInteger(Math.log2(value));
  });

export const textLike = (must: string, pattern: RegExp): Check =>
  check(must, (value) => typeof value === 'string' && pattern.test(value));

export const wordOf = (words: readonly string[]): Check =>
  check(`must be one of ${words.join(', ')}`, (value) => typeof value === 'string' && words.includes(value));

export const nullOr =
  (other: Check): Check =>
  (value) =>
    value === null ? null : other(value);

export const listOfEach =
  (each: Check, max: number): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length > max) return `must be a list of at most ${max}`;
    const fault = value.map(each).find((reason) => reason !== null);
    return fault === undefined ? null : `is a list of which each ${fault}`;
  };

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
