import { readJson } from '@berth/contracts';
import { isNodeUid } from '@berth/domain';
import { isObject, type JsonObject } from '@berth/domain/shape';

/** Above the length of any token that a cluster makes; a broker takes no longer first line. */
const NODE_TOKEN_CHARACTERS_MAX = 3_500;

/** What a token of a cluster says of itself. Nothing of it is proven. */
export interface NodeTokenClaims {
  readonly nodeUid: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly expiresAtMs: number;
}

const SHAPE = /^[\w-]+\.([\w-]+)\.[\w-]+$/;
const MS_PER_SECOND = 1_000;

/** Whether it has the form of a cluster's token rather than of a join token, which has no dots. */
export const isNodeToken = (token: string): boolean => token.length <= NODE_TOKEN_CHARACTERS_MAX && SHAPE.test(token);

/** Null: it is no token of a Pod on a node. */
export function readNodeToken(token: string): NodeTokenClaims | null {
  if (!isNodeToken(token)) return null;
  const claims = readJson(Buffer.from(SHAPE.exec(token)?.[1] ?? '', 'base64url'));
  return claims.kind === 'unreadable' ? null : claimsIn(membersOf(claims.value));
}

function claimsIn({ aud, exp, sub, ...rest }: JsonObject): NodeTokenClaims | null {
  const nodeUid = membersOf(membersOf(rest['kubernetes.io'])['node'])['uid'];
  if (typeof nodeUid !== 'string' || !isNodeUid(nodeUid)) return null;
  if (typeof sub !== 'string' || typeof exp !== 'number') return null;
  const audiences = Array.isArray(aud) ? aud.filter((each) => typeof each === 'string') : [];
  return { nodeUid, subject: sub, audiences, expiresAtMs: exp * MS_PER_SECOND };
}

const membersOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
