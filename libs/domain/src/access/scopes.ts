/** The things that a key may do. `admin` is the operator's own and implies nothing else. */
export const SCOPES = [
  'serverless:read',
  'serverless:write',
  'jobs:read',
  'jobs:write',
  'templates:read',
  'templates:write',
  'registries:read',
  'registries:write',
  'volumes:read',
  'volumes:write',
  'clusters:read',
  'clusters:write',
  'catalog:read',
  'usage:read',
  'keys:read',
  'keys:write',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Names that stand for a list of scopes (API decisions 1.7). */
export const SCOPE_PRESETS = {
  all: SCOPES.filter((scope) => scope !== 'admin'),
  'read-only': SCOPES.filter((scope) => scope.endsWith(':read')),
} as const satisfies Record<string, readonly Scope[]>;

export type ScopePreset = keyof typeof SCOPE_PRESETS;

export const isScope = (word: string): word is Scope => SCOPES.some((scope) => scope === word);

export const isScopePreset = (word: string): word is ScopePreset => Object.hasOwn(SCOPE_PRESETS, word);

export interface ExpandedScopes {
  /** In the order of `SCOPES`, without repeats. */
  readonly scopes: readonly Scope[];
  /** Words that name no scope, as they came. */
  readonly unknown: readonly string[];
}

/** Scopes as a request writes them: single ones, and `X:*` for every scope of `X`. */
export function expandScopes(words: readonly string[]): ExpandedScopes {
  const wanted = new Set(words.flatMap(scopesOf));
  return {
    scopes: SCOPES.filter((scope) => wanted.has(scope)),
    unknown: words.filter((word) => scopesOf(word).length === 0),
  };
}

function scopesOf(word: string): readonly Scope[] {
  if (isScope(word)) return [word];
  return word.endsWith(':*') ? SCOPES.filter((scope) => scope.startsWith(word.slice(0, -1))) : [];
}
