import type { HostId } from '../ids.js';

/** What the API of a cluster says of a token. */
export interface TokenReview {
  readonly isAuthenticated: boolean;
  /** Those of the asked ones that the token is for. */
  readonly audiences: readonly string[];
  readonly username: string;
  /** Facts about the token by their names. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Whose token lets a node join. */
export interface NodeTokenRule {
  readonly audience: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A machine of a cluster. Its name may be given again to another one, its uid never. */
export interface ClusterNode {
  readonly name: string;
  readonly uid: string;
}

export type NodeTokenFault =
  | 'token-not-authenticated' // forged, expired, or of a Pod that is gone
  | 'token-of-other-audience'
  | 'token-of-other-account'
  | 'token-of-no-pod' // made by hand, for nothing that ends
  | 'token-of-no-node'; // of a Pod that is on none yet, or of a cluster that does not say it

export type NodeTokenVerdict =
  { readonly kind: 'node'; readonly node: ClusterNode } | { readonly kind: 'refused'; readonly fault: NodeTokenFault };

/** As the claims of such a token have it. */
export const subjectOfAccount = ({ namespace, serviceAccount }: Omit<NodeTokenRule, 'audience'>): string =>
  `system:serviceaccount:${namespace}:${serviceAccount}`;

const PREFIX = 'node-';
const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;

export const isNodeUid = (text: string): boolean => UID.test(text);

/** The host that a node is: another one for a node made anew under the same name. */
export const hostOfNode = ({ uid }: Pick<ClusterNode, 'uid'>): HostId => `${PREFIX}${uid}` as HostId;

/** Hosts that were invited by hand have ids without a hyphen. */
export const isHostOfNode = (hostId: HostId): boolean => hostId.startsWith(PREFIX);

/** Which node a token lets join, by what its cluster says of it. What the token says of itself counts for nothing. */
export function judgeNodeToken(review: TokenReview, rule: NodeTokenRule): NodeTokenVerdict {
  if (!review.isAuthenticated) return refused('token-not-authenticated');
  // A cluster that knows no audiences names none.
  if (!review.audiences.includes(rule.audience)) return refused('token-of-other-audience');
  if (review.username !== subjectOfAccount(rule)) return refused('token-of-other-account');
  if (factOf(review, 'pod-uid') === '') return refused('token-of-no-pod');
  const node = { name: factOf(review, 'node-name'), uid: factOf(review, 'node-uid') };
  return isNodeUid(node.uid) && NAME.test(node.name) ? { kind: 'node', node } : refused('token-of-no-node');
}

const refused = (fault: NodeTokenFault): NodeTokenVerdict => ({ kind: 'refused', fault });

const factOf = ({ extra }: TokenReview, name: string): string =>
  extra[`authentication.kubernetes.io/${name}`]?.[0] ?? '';
