/** Names and values in turn, as they were sent. */
export type RawHeaders = readonly string[];

export interface HeaderPair {
  /** As it was sent. */
  readonly name: string;
  readonly value: string;
  /** The name in lower case. */
  readonly key: string;
}

/** Each head is taken apart several times in each request: loops cost less than half of what the ways of arrays do. */
export function pairsOf(raw: RawHeaders): readonly HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    pairs.push({ name, value: raw[at + 1] ?? '', key: name.toLowerCase() });
  }
  return pairs;
}

export function flatten(pairs: readonly Pick<HeaderPair, 'name' | 'value'>[]): string[] {
  const raw: string[] = [];
  for (const { name, value } of pairs) raw.push(name, value);
  return raw;
}

export function valuesOf(pairs: readonly HeaderPair[], key: string): readonly string[] {
  const values: string[] = [];
  for (const pair of pairs) if (pair.key === key) values.push(pair.value);
  return values;
}

/** What a list of words like `Connection` names, in lower case. */
export function wordsOf(pairs: readonly HeaderPair[], key: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const value of valuesOf(pairs, key)) {
    for (const word of value.split(',')) words.add(word.trim().toLowerCase());
  }
  words.delete('');
  return words;
}

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
