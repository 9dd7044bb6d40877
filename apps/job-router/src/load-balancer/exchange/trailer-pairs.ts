/** As Node takes trailers: pairs of a name and a value. @param raw names and values in turn */
export const trailerPairs = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? '']);
