/** Names and values in turn, as they were sent. */
export type RawHeaders = readonly string[];

export interface HeaderPair {
  /** As it was sent. */
  readonly name: string;
  readonly value: string;
  /** The name in lower case. */
  readonly key: string;
}

export const pairsOf = (raw: RawHeaders): readonly HeaderPair[] =>
  Array.from({ length: Math.floor(raw.length / 2) }, (_, index) => {
    const name = raw[2 * index] ?? '';
    return { name, value: raw[2 * index + 1] ?? '', key: name.toLowerCase() };
  });

export const flatten = (pairs: readonly Pick<HeaderPair, 'name' | 'value'>[]): string[] =>
  pairs.flatMap(({ name, value }) => [name, value]);

export const valuesOf = (pairs: readonly HeaderPair[], key: string): readonly string[] =>
  pairs.flatMap((pair) => (pair.key === key ? [pair.value] : []));

/** What a list of words like `Connection` names, in lower case. */
export const wordsOf = (pairs: readonly HeaderPair[], key: string): ReadonlySet<string> =>
  new Set(
    valuesOf(pairs, key)
      .flatMap((value) => value.split(','))
      .map((word) => word.trim().toLowerCase())
      .filter((word) => word !== ''),
  );

/** Fields of one connection (RFC 9110, 7.6.1), and those of a proxy. Framing is said anew for the next connection. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Fields that say how a message is framed or where it goes: no `Connection` takes them away. */
const NOT_REMOVABLE = new Set(['content-length', 'host']);

/** Those that go on to the next connection: the others are this one's, by name or because `Connection` lists them. */
export function endToEnd(pairs: readonly HeaderPair[]): readonly HeaderPair[] {
  const listed = wordsOf(pairs, 'connection');
  return pairs.filter(({ key }) => !HOP_BY_HOP.has(key) && (!listed.has(key) || NOT_REMOVABLE.has(key)));
}
