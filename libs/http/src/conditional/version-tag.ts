import { PlatformError } from '@berth/domain';

/** The strong entity tag of a resource in this version: `"7"`. */
export const tagOf = (version: number): string => `"${version}"`;

/** The condition of `If-Match`: that the resource still is as the caller read it. */
export type VersionMatch = { readonly kind: 'any' } | { readonly kind: 'one-of'; readonly tags: readonly string[] };

/** A member of a list of entity tags (RFC 9110, 8.8.3); members may be empty, and text beyond ASCII is allowed. */
const MEMBER = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Parses `If-Match` (RFC 9110, 13.1.1).
 *
 * @throws PlatformError `invalid-header`: a condition that cannot be read must not be dropped
 */
export function parseIfMatch(header: string): VersionMatch {
  if (header.trim() === '*') return { kind: 'any' };
  const tags = parseTags(header);
  if (tags === null) throw new PlatformError('invalid-header', 'If-Match is neither * nor a list of entity tags.');
  return { kind: 'one-of', tags };
}

/** Strong comparison: a weak tag matches nothing. */
const isMatched = (match: VersionMatch, version: number): boolean =>
  match.kind === 'any' || match.tags.includes(tagOf(version));

/**
 * Call it where the resource cannot change any more, inside the transaction that changes it.
 *
 * @param expected null: the caller did not ask
 * @throws PreconditionFailed when the resource is in another version than the caller expects
 */
export function requireVersion(expected: VersionMatch | null, version: number): void {
  if (expected !== null && !isMatched(expected, version)) throw new PreconditionFailed(version);
}

/** Answered with the present tag, so that the caller knows what it missed. */
export class PreconditionFailed extends PlatformError {
  readonly tag: string;

  constructor(version: number) {
    super('precondition-failed', 'The resource has changed since it was read; read it again.');
    this.tag = tagOf(version);
  }
}

/**
 * Whether the caller has this version already (`If-None-Match`, weak comparison). A header that cannot be read only costs
 * the caller a full answer.
 */
export function isFresh(header: string, version: number): boolean {
  if (header.trim() === '*') return true;
  const tag = tagOf(version);
  return parseTags(header)?.some((each) => each.replace(/^W\//, '') === tag) ?? false;
}

/** Null where the text is no list of tags, or one without any. */
function parseTags(header: string): readonly string[] | null {
  const tags: string[] = [];
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < header.length) {
    const member = MEMBER.exec(header);
    if (member === null) return null;
    if (member[1] !== undefined) tags.push(member[1]);
  }
  return tags.length === 0 ? null : tags;
}
